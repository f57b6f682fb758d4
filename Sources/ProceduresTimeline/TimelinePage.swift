// swift-format-ignore-file
// This is one page of HTML, CSS and JavaScript.

/// The page of a timeline: the parts before its title, between title and data, and after the data.
///
/// It loads nothing, and its policy forbids that. Names and errors are data, and are inserted as
/// text. The tables repeat the content of the canvas for screen readers.
enum TimelinePage {
  static let beforeTitle = #"""
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
    <link rel="icon" href="data:,">
    <title>
    """#

  static let beforeData = #"""
    </title>
    <style>
    /* Colours of causes, and of the path, differ by lightness too: .ci/timeline-check/colours.py measures it. */
    :root {
      color-scheme: light dark;
      --back: #ffffff; --panel: #f5f6f8; --line: #cfd4db; --faint: #e8ebef; --text: #1b1f24; --dim: #57606a;
      --accent: #0a58ca; --path: #1b1f24; --succeeded: #8fc18b; --failed: #e0776d; --cancelled: #c3c7cd;
      --running: #86b3ea; --group: #e4ecf7; --ink: #14181d; --curve: #6aa2df;
      --dependency: #1e45c0; --barrier: #7694b3; --condition: #3a0072; --group-wait: #9d8880;
      --suspension: #0f7dc6; --exclusion: #d17d52; --slot: #950200; --rate: #7800fa; --worker: #e06f00; --heldEvent: #555364;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #14171b; --panel: #1d2127; --line: #3b434d; --faint: #262c33; --text: #e6e9ed; --dim: #9aa4af;
        --accent: #78b0ff; --path: #e6e9ed; --succeeded: #3f7a45; --failed: #a8453d; --cancelled: #555d66;
        --running: #2f66a8; --group: #233044; --ink: #f3f5f7; --curve: #3f74ad;
        --dependency: #dab8ff; --barrier: #e5b356; --condition: #748dff; --group-wait: #849d99;
        --suspension: #3b75a0; --exclusion: #c90a4f; --slot: #b14500; --rate: #821efa; --worker: #e5e91a; --heldEvent: #c8ffb3;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; padding: 12px 16px; background: var(--back); color: var(--text);
      font: 14px/1.45 system-ui, sans-serif; }
    h1 { font-size: 20px; margin: 0; } h2 { font-size: 15px; margin: 20px 0 6px; }
    p { margin: 4px 0; } .dim { color: var(--dim); }
    .bar { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; margin: 10px 0; }
    button, input, select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line);
      border-radius: 5px; padding: 3px 9px; }
    button:hover { border-color: var(--accent); }
    button:focus-visible, input:focus-visible, canvas:focus-visible, summary:focus-visible, .scroll:focus-visible {
      outline: 2px solid var(--accent); outline-offset: 1px; }
    button.link { border: 0; background: none; padding: 0; color: var(--accent); text-decoration: underline; cursor: pointer;
      text-align: left; overflow-wrap: anywhere; }
    #verdict { font-size: 16px; margin: 6px 0 2px; overflow-wrap: anywhere; }
    .pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 24px; }
    @media (max-width: 820px) { .pair { grid-template-columns: minmax(0, 1fr); } }
    .keys { font-size: 12px; margin: 4px 0; }
    .key { margin: 6px 0; font-size: 13px; max-width: 1000px; } .key summary, aside summary { cursor: pointer; color: var(--accent); }
    tr.gap td { color: var(--dim); font-style: italic; }
    .skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--back); padding: 4px 8px; }
    .meter { display: inline-block; height: 9px; border-radius: 2px; margin-right: 6px; min-width: 1px; border: 1px solid var(--text); }
    ul.legend { display: flex; flex-wrap: wrap; gap: 3px 14px; list-style: none; padding: 0; margin: 6px 0; font-size: 12px; }
    ul.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 5px; vertical-align: -1px; }
    ul.legend i.line { height: 4px; vertical-align: 3px; border-radius: 0; }
    .main { display: grid; grid-template-columns: minmax(0, 1fr) 320px; gap: 12px; }
    @media (max-width: 820px) { .main { grid-template-columns: minmax(0, 1fr); } }
    .frame { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
    canvas { display: block; width: 100%; touch-action: none; }
    #curve { height: 80px; }
    .scroll { height: 56vh; min-height: 160px; overflow-y: auto; overflow-x: hidden; position: relative; }
    .scroll canvas { position: sticky; top: 0; height: 100%; cursor: default; }
    aside { border: 1px solid var(--line); border-radius: 6px; background: var(--panel); padding: 10px 12px; max-height: calc(56vh + 82px);
      overflow: auto; }
    aside h2 { margin-top: 0; overflow-wrap: anywhere; } aside h3 { font-size: 13px; margin: 10px 0 2px; }
    aside ul { margin: 2px 0; padding-left: 18px; } aside li { overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: auto 1fr; gap: 1px 10px; margin: 4px 0; } dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
    pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 2px 0; font-size: 12px; }
    .table { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; min-width: 50%; }
    caption { text-align: left; color: var(--dim); padding-bottom: 3px; }
    th, td { text-align: left; padding: 2px 12px 2px 0; border-bottom: 1px solid var(--faint); vertical-align: top; }
    td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    tr.on td { background: var(--faint); }
    .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    </style>
    </head>
    <body>
    <header>
      <a class="skip" href="#path-title">To the tables</a>
      <h1 id="title"></h1>
      <p id="verdict"></p>
      <p id="stats" class="dim"></p>
    </header>
    <main>
    <div class="bar" role="toolbar" aria-label="Timeline">
      <label>Find <input id="search" type="search" placeholder="name or type" autocomplete="off" spellcheck="false"></label>
      <span id="found" class="dim" role="status" aria-live="polite"></span>
      <label>Rows <select id="view"><option value="lanes">lanes (workers)</option><option value="rows">procedures, with waits</option></select></label>
      <button id="in" type="button">Zoom in</button><button id="out" type="button">Zoom out</button><button id="fit" type="button">Fit</button>
      <label><input id="only" type="checkbox"> critical path only</label>
    </div>
    <ul class="legend" id="legend" aria-label="Colours"></ul>
    <details class="key"><summary>What the words mean</summary><dl id="terms"></dl></details>
    <div class="main">
      <div>
        <div class="frame"><canvas id="curve" height="80" role="img" aria-label="How many procedures ran, over time"></canvas></div>
        <p class="hidden" id="status" role="status" aria-live="polite"></p>
        <div class="frame scroll" id="scroll"><canvas id="canvas" tabindex="0" role="application" aria-roledescription="timeline" aria-label="Timeline of procedures" aria-describedby="keys"></canvas><div id="spacer"></div></div>
        <p class="dim keys">Drag: move. Ctrl or Cmd with the wheel: zoom. Double click: zoom to a procedure. <span id="keys">Keys, after a click into the drawing: left and right arrow: procedure before and after; up and down: scroll; plus and minus: zoom; Shift with left and right: pan; 0: fit; Escape: select none. The tables below hold the same.</span></p>
      </div>
      <aside id="details" tabindex="0" aria-label="Details"><h2>Details</h2><p class="dim">Click a procedure, or find one by name.</p></aside>
    </div>
    <section><h2 id="path-title">Critical path</h2>
      <div class="table"><table id="shares" aria-label="Critical path, by cause"></table></div>
      <div class="table"><table id="path" aria-labelledby="path-title"></table></div></section>
    <div class="pair">
    <section><h2 id="waits-title">Longest waits</h2><div class="table"><table id="waits" aria-labelledby="waits-title"></table></div></section>
    <section><h2 id="runs-title">Longest running</h2><div class="table"><table id="runs" aria-labelledby="runs-title"></table></div></section>
    </div>
    <section><h2 id="causes-title">Waits by cause</h2><div class="table"><table id="causes" aria-labelledby="causes-title"></table></div><p id="short-causes" class="dim"></p></section>
    <section><h2 id="all-title">All procedures</h2>
      <div class="bar"><button id="previous" type="button">Previous 100</button><button id="next" type="button">Next 100</button><span id="page" class="dim" role="status"></span></div>
      <div class="table"><table id="all" aria-labelledby="all-title"></table></div></section>
    </main>
    <script type="application/json" id="data">
    """#

  static let afterData = #"""
    </script>
    <script>
    "use strict";
    (() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const $ = id => document.getElementById(id);
    const CAUSES = data.causes, LABELS = data.labels;
    // Parts of a bar, after the start.
    const AFTER_START = new Set(["heldEvent", "observer", "mainActor", "delay", "lingering"]);
    const OUTCOMES = ["succeeded", "failed", "cancelled", "running", "waiting"];
    const END = Math.max(data.end, 1);
    // This is text for people: nothing that breaks a line or turns text around, and no longer than some words.
    const shown = s => (s.length > 100 ? s.slice(0, 66) + "…" + s.slice(-33) : s).replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, " ");
    data.names = data.names.map(shown); data.roots = data.roots.map(shown);

    // Entries: the arrays of the file, by name.
    const all = data.entries.map((e, place) => ({
      place, id: e[0], parent: e[1], name: data.names[e[2]], type: data.names[e[3]], group: e[4] === 1, root: e[5], lane: e[6],
      enqueued: e[7], ready: e[8], started: e[9], executing: e[10], finished: e[11], cancelled: e[12], outcome: OUTCOMES[e[13]],
      dependencies: e[14], waits: e[15].map(w => ({ cause: CAUSES[w[0]], label: LABELS[w[0]], time: w[1], blocker: CAUSES[w[0]] === "slot" || AFTER_START.has(CAUSES[w[0]]) ? 0 : w[2], from: w[2], limit: CAUSES[w[0]] === "slot" ? w[2] : 0, text: w[3] < 0 ? "" : data.names[w[3]], category: w[4] < 0 ? "" : data.names[w[4]], through: w.length > 5 ? LABELS[w[5]] : "" })),
      errors: e[16] || [], reason: e[17] || "", dependents: [], children: 0, onPath: false }));
    const byID = new Map(all.map(e => [e.id, e]));
    for (const e of all) {
      e.end = e.finished >= 0 ? e.finished : END;
      e.begin = e.started >= 0 ? e.started : e.enqueued;
      for (const d of e.dependencies) byID.get(d)?.dependents.push(e.id);
      const parent = byID.get(e.parent);
      if (parent) parent.children++;
    }
    const path = data.path.map(([id, link, ...gaps]) => ({ entry: byID.get(id), link, gaps: gaps.map(g => ({ after: g[0] === 1, cause: g[1] < 0 ? null : CAUSES[g[1]], from: g[2], time: g[3], id: g[4], text: g[5] })) }));
    // Where there are many, short ones are left out: below 1 % of the whole, and of their procedure's time;
    // and causes below 1 % of the whole, and of the time of all procedures.
    const LEAST = END / 100;
    const LEAST_SUM = Math.min(END, all.reduce((sum, e) => e.group ? sum : sum + e.end - e.enqueued, 0)) / 100;
    const sums = new Map();
    for (const e of all) for (const w of e.waits) sums.set(w.cause, (sums.get(w.cause) || 0) + w.time);
    const counts = (e, w) => w.time >= LEAST || (w.time >= (e.end - e.enqueued) / 100 && sums.get(w.cause) >= LEAST_SUM);
    for (const step of path) step.entry.onPath = true;
    const running = all.filter(e => e.started >= 0);
    const leaves = running.filter(e => !e.group);

    // MARK: Text

    function time(ns, isExact) {
      const value = Math.abs(ns);
      if (value >= 600e9) {
        let rest = Math.floor(value / 1e9);
        const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]], first = units.findIndex(u => rest >= u[1]), parts = [];
        for (const [name, seconds] of units.slice(first, isExact ? 4 : first + 2)) {
          if (rest >= seconds) parts.push(Math.floor(rest / seconds) + " " + name);
          rest %= seconds;
        }
        return (ns < 0 ? "-" : "") + parts.join(" ");
      }
      const scaled = (unit, name) => {
        const v = ns / unit, a = Math.abs(v);
        return parseFloat(v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2)) + " " + name;
      };
      return value === 0 ? "0 s" : value < 1e3 ? ns + " ns" : value < 1e6 ? scaled(1e3, "µs") : value < 1e9 ? scaled(1e6, "ms") : scaled(1e9, "s");
    }
    function element(name, text, kind) {
      const e = document.createElement(name);
      if (text !== undefined) e.textContent = text;
      if (kind) e.className = kind;
      return e;
    }
    // Where a procedure takes its slot.
    function source(e, limit) {
      const group = e.parent ? byID.get(e.parent) : null;
      return (e.parent ? "group ‘" + (group ? group.name : "") : "queue ‘" + data.roots[e.root]) + "’" + (limit ? e.parent ? " (" + limit + " at once)" : " (limit " + limit + ")" : "");
    }
    // The awaited thing, without the cause.
    function reason(e, w) {
      switch (w.cause) {
      case "slot": case "suspension": return "of " + source(e, w.limit);
      case "exclusion": case "rate": return [w.category, w.text && "behind ‘" + w.text + "’"].filter(Boolean).join(" ");
      case "group": { const parent = byID.get(e.parent), name = w.category || (w.text && "‘" + w.text + "’"); return (parent ? "‘" + parent.name + "’" : "") + (w.through ? " waited for " + w.through + (name ? " " + name : "") : ""); }
      case "condition": case "heldEvent": case "observer": case "mainActor": case "worker": return w.text && "‘" + w.text + "’";
      case "delay": return w.text && "between attempts of ‘" + w.text + "’";
      default: return w.text && "for ‘" + w.text + "’";
      }
    }
    function waitText(e, w) { const r = reason(e, w); return w.label + " " + time(w.time) + (r ? ", " + r : ""); }
    // Those that count, in one line.
    function waitsText(e) {
      return e.waits.filter(w => counts(e, w)).map(w => waitText(e, w)).join("; ");
    }
    const percent = t => { const p = t / END * 100; return (p >= 10 || p === 0 ? p.toFixed(0) : p.toFixed(1)) + " %"; };
    // The waits while it ran.
    function pauses(e) { return e.waits.filter(w => AFTER_START.has(w.cause)); }
    function link(e) {
      const button = element("button", e.name, "link");
      button.type = "button";
      button.addEventListener("click", () => select(e, true));
      return button;
    }

    // MARK: Rows

    // A lane has a row for each depth at which one is inside the other; in each they are in order, and do not overlap.
    const laneRows = [];
    {
      const open = new Map();
      for (const e of running.slice().sort((a, b) => a.started - b.started || a.id - b.id)) {
        const stack = open.get(e.lane) || [];
        open.set(e.lane, stack);
        while (stack.length && stack[stack.length - 1].end <= e.started && stack[stack.length - 1].id !== e.parent) stack.pop();
        e.level = stack.length;
        stack.push(e);
        const rows = laneRows[e.lane] || (laneRows[e.lane] = []);
        (rows[e.level] || (rows[e.level] = [])).push(e);
      }
    }
    const byStart = all.slice().sort((a, b) => a.begin - b.begin || a.id - b.id);
    // Each below its parent, the children of one parent by time.
    const byTree = [];
    {
      const children = new Map(), stack = [];
      for (const e of byStart) {
        const key = byID.has(e.parent) ? e.parent : 0;
        if (children.has(key)) children.get(key).push(e); else children.set(key, [e]);
      }
      const push = list => { for (let i = list.length - 1; i >= 0; i--) stack.push(list[i]); };
      push(children.get(0) || []);
      while (stack.length) {
        const e = stack.pop(); byTree.push(e);
        if (children.has(e.id)) { push(children.get(e.id)); children.delete(e.id); }
      }
    }
    // What the search and the critical path leave: the lines of all lanes, the procedures by time, and those by parent.
    let lines = [], listShown = byStart, rowsShown = byTree;
    function choose() {
      const isShown = e => (!isPathOnly || e.onPath) && (!matches || matches.has(e));
      lines = [];
      laneRows.forEach((rows, lane) => {
        let isFirst = true;
        for (const row of rows) {
          const shown = isPathOnly ? row.filter(e => e.onPath) : row;
          if (shown.length) { lines.push({ row: shown, lane, isFirst }); isFirst = false; }
        }
      });
      for (const e of all) e.line = e.index = -1;
      lines.forEach(({ row }, line) => { for (const e of row) e.line = line; });
      listShown = matches || isPathOnly ? byStart.filter(isShown) : byStart;
      rowsShown = matches || isPathOnly ? byTree.filter(isShown) : byTree;
      // Below the nearest of its groups that is shown.
      rowsShown.forEach((e, index) => {
        e.index = index;
        const parent = nearest(e); e.indent = parent ? parent.indent + 1 : 0;
      });
    }
    function nearest(e) {
      let parent = byID.get(e.parent);
      while (parent && parent.index < 0) parent = byID.get(parent.parent);
      return parent;
    }

    // MARK: The state of the view

    const canvas = $("canvas"), curve = $("curve"), scroll = $("scroll"), spacer = $("spacer");
    const LABEL = 70, ROW = 20, TOP = 22;
    let from = 0, to = END, selected = null, matches = null, isPathOnly = false, hovered = null, view = "lanes", isDue = false, colors = {};
    // Where there is room for a row each, the waits are seen at once.
    if (all.length <= 60) view = "rows";
    $("view").value = view;
    const isLanes = () => view === "lanes";
    const left = () => isLanes() ? LABEL : 180;
    // Read when the size changes: to ask for it each time would have the browser lay out the page.
    let canvasWidth = 0;
    const width = () => canvasWidth - left();
    const x = t => left() + (t - from) / (to - from) * width();
    const at = px => from + (px - left()) / width() * (to - from);
    function draw() { if (!isDue) { isDue = true; requestAnimationFrame(() => { isDue = false; paint(); }); } }

    function readColors() {
      const style = getComputedStyle(document.documentElement);
      for (const name of ["back", "panel", "line", "faint", "text", "dim", "accent", "path", "succeeded", "failed", "cancelled", "running", "group", "ink", "curve", "group-wait", ...CAUSES])
        colors[name] = style.getPropertyValue("--" + name).trim();
    }
    // One colour for all that comes after the start: words tell those apart, and more colours could not be.
    const varOf = cause => cause === "group" ? "group-wait" : AFTER_START.has(cause) ? "heldEvent" : cause;
    const causeColor = cause => colors[varOf(cause)];

    function prepare(target) {
      const ratio = window.devicePixelRatio || 1, w = target.clientWidth, h = target.clientHeight;
      if (target.width !== Math.round(w * ratio) || target.height !== Math.round(h * ratio)) {
        target.width = Math.round(w * ratio); target.height = Math.round(h * ratio);
      }
      const context = target.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.font = "12px system-ui, sans-serif";
      context.textBaseline = "middle";
      context.fillStyle = colors.back;
      context.fillRect(0, 0, w, h);
      return context;
    }

    // MARK: Drawing

    function ticks(context, height) {
      const span = to - from, raw = span / Math.max(2, width() / 110);
      const power = Math.pow(10, Math.floor(Math.log10(raw)));
      const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
      context.textAlign = "left";
      for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        const px = Math.round(x(t)) + 0.5;
        context.strokeStyle = colors.faint; context.beginPath(); context.moveTo(px, 0); context.lineTo(px, height); context.stroke();
        // At the right end it stands on the other side of its line.
        const label = time(t, true), isLast = px + 5 + context.measureText(label).width > canvas.clientWidth;
        context.fillStyle = colors.dim; context.textAlign = isLast ? "right" : "left"; context.fillText(label, px + (isLast ? -3 : 3), TOP / 2); context.textAlign = "left";
      }
    }
    function firstAfter(row, t) {
      let low = 0, high = row.length;
      while (low < high) { const middle = (low + high) >> 1; if (row[middle].end < t) low = middle + 1; else high = middle; }
      return low;
    }
    let lastColor = null;
    function box(context, e, y, x0, x1) {
      const w = Math.max(x1 - x0, 1), h = ROW - 3;
      if (w < 2 && e !== selected && e !== hovered && !matches && !isPathOnly) {
        const color = e.onPath ? colors.path : colors[e.outcome] || colors.running;
        if (lastColor !== color) { context.fillStyle = color; lastColor = color; }
        if (e.onPath) context.fillRect(x0, y + h - 4, w, 4); else context.fillRect(x0, y, w, h);
        return;
      }
      lastColor = null;
      context.globalAlpha = isFaded(e) ? 0.18 : 1;
      context.fillStyle = e.group ? colors.group : colors[e.outcome] || colors.running;
      context.fillRect(x0, y, w, h);
      if (w > 26) {
        const mark = e.outcome === "failed" ? "✕ " : e.outcome === "cancelled" ? "⊘ " : "";
        context.save(); context.beginPath(); context.rect(x0, y, w - 2, h); context.clip();
        context.fillStyle = colors.ink; context.textAlign = "left"; context.fillText(mark + e.name, Math.max(x0, left()) + 4, y + h / 2 + 0.5); context.restore();
      }
      context.globalAlpha = 1;
      if (e.waits.length && AFTER_START.has(e.waits[e.waits.length - 1].cause)) holds(context, e, y, h);
      if (e.onPath) { context.globalAlpha = isFaded(e) ? 0.18 : 1; context.fillStyle = colors.path; context.fillRect(x0, y + h - 4, w, 4); context.globalAlpha = 1; }
      if (e === selected || e === hovered) {
        context.strokeStyle = e === selected ? colors.accent : colors.dim; context.lineWidth = e === selected ? 2 : 1;
        context.strokeRect(x0 - 1, y - 1, w + 2, h + 2); context.lineWidth = 1;
      }
    }
    const isFaded = e => matches && !matches.has(e);
    // In black or white, as can be read on it.
    const inks = {};
    function inkOn(color) {
      return inks[color] || (inks[color] = (() => {
        const [r, g, b] = [1, 3, 5].map(i => { const c = parseInt(color.slice(i, i + 2), 16) / 255; return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4); });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
      })());
    }
    function label(context, text, color, x0, y, w, h) {
      context.save(); context.beginPath(); context.rect(x0, y, w - 2, h); context.clip();
      context.font = "11px system-ui, sans-serif"; context.fillStyle = inkOn(color); context.textAlign = "left"; context.fillText(text, Math.max(x0, left()) + 4, y + h / 2 + 0.5); context.restore();
    }
    // A wait, with its cause in words where there is room: colours are not all that tells it.
    function waiting(context, e, w, y, x0, x1) {
      const color = causeColor(w.cause), width = Math.max(x1 - x0, 0.5);
      context.globalAlpha = isFaded(e) ? 0.18 : 1; context.fillStyle = color; context.fillRect(x0, y + 2, width, ROW - 7);
      if (width > 40) label(context, w.label + (reason(e, w) ? " " + reason(e, w) : ""), color, x0, y + 2, width, ROW - 7);
      context.globalAlpha = 1;
    }
    // A wait after the start: a part of the bar, framed.
    function holds(context, e, y, h) {
      for (const wait of pauses(e)) {
        const x0 = x(wait.from), w = x(wait.from + wait.time) - x0, color = causeColor(wait.cause);
        if (w < 2) continue;
        context.globalAlpha = isFaded(e) ? 0.18 : 1; context.fillStyle = color; context.fillRect(x0, y, w, h);
        context.strokeStyle = colors.text; context.lineWidth = 1; context.strokeRect(x0 + 0.5, y + 0.5, Math.max(w - 1, 1), h - 1);
        if (w > 40) label(context, (isLanes() ? e.name + ": " : "") + (wait.cause === "heldEvent" ? "held ‘" + wait.text + "’" : wait.label + (reason(e, wait) ? " " + reason(e, wait) : "")), color, x0, y, w, h);
        context.globalAlpha = 1;
      }
    }
    function paintLanes(context, height) {
      const first = Math.max(0, Math.floor((scroll.scrollTop) / ROW)), last = Math.min(lines.length, first + Math.ceil(height / ROW) + 1);
      for (let index = first; index < last; index++) {
        const { row, lane, isFirst } = lines[index];
        const y = TOP + index * ROW - scroll.scrollTop;
        context.save(); context.beginPath(); context.rect(left(), TOP, width(), height); context.clip(); lastColor = null;
        let painted = -1, special = -1;
        for (let i = firstAfter(row, from); i < row.length && row[i].started <= to; i++) {
          const e = row[i], x0 = Math.max(x(e.started), left() - 2), x1 = Math.min(x(e.end), left() + width() + 2);
          const isSpecial = e === selected || e.onPath || (matches && matches.has(e));
          // Narrower than a pixel, and one of its kind is there already.
          if (x1 <= (isSpecial ? special : painted)) continue;
          box(context, e, y, x0, x1);
          painted = Math.max(painted, x1, x0 + 1);
          if (isSpecial) special = Math.max(x1, x0 + 1);
        }
        context.restore();
        if (isFirst) {
          context.strokeStyle = colors.faint; context.beginPath(); context.moveTo(0, y - 2); context.lineTo(canvas.clientWidth, y - 2); context.stroke();
          context.fillStyle = colors.dim; context.textAlign = "left"; context.fillText("lane " + (lane + 1), 8, y + ROW / 2 - 1);
        }
      }
    }
    function paintRows(context, height) {
      const first = Math.max(0, Math.floor(scroll.scrollTop / ROW)), last = Math.min(rowsShown.length, first + Math.ceil(height / ROW) + 1);
      for (let index = first; index < last; index++) {
        const e = rowsShown[index], y = TOP + index * ROW - scroll.scrollTop;
        context.save(); context.beginPath(); context.rect(0, TOP, left() - 6, height); context.clip();
        context.fillStyle = e === selected ? colors.accent : colors.text; context.textAlign = "left";
        context.fillText(e.name, 8 + Math.min(e.indent, 6) * 10, y + ROW / 2 - 1); context.restore();
        context.save(); context.beginPath(); context.rect(left(), TOP, width(), height); context.clip();
        let t = e.enqueued;
        for (const w of e.waits) if (!AFTER_START.has(w.cause)) { waiting(context, e, w, y, x(t), x(t + w.time)); t += w.time; }
        if (e.started >= 0) box(context, e, y, x(e.started), x(e.end));
        else if (e.cancelled >= 0) { context.fillStyle = colors.dim; context.textAlign = "left"; context.fillText("⊘", x(e.cancelled) - 4, y + ROW / 2 - 1); }
        context.restore();
      }
    }
    function middle(e) {
      const index = isLanes() ? e.line : e.index;
      return index < 0 ? null : TOP + index * ROW - scroll.scrollTop + ROW / 2 - 2;
    }
    function arrow(context, source, target, color) {
      const y0 = middle(source), y1 = middle(target);
      if (y0 === null || y1 === null) return;
      const x0 = x(source.end), x1 = x(target.begin);
      context.strokeStyle = color; context.lineWidth = 1.5; context.beginPath(); context.moveTo(x0, y0);
      const bend = Math.max(12, Math.abs(x1 - x0) / 3);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1); context.stroke();
      context.fillStyle = color; context.beginPath(); context.moveTo(x1, y1); context.lineTo(x1 - 6, y1 - 3.5); context.lineTo(x1 - 6, y1 + 3.5); context.fill();
      context.lineWidth = 1;
    }
    function paint() {
      const context = prepare(canvas), height = canvas.clientHeight;
      lastColor = null;
      ticks(context, height);
      if (isLanes()) paintLanes(context, height); else paintRows(context, height);
      context.save(); context.beginPath(); context.rect(left(), TOP, width(), height - TOP); context.clip();
      let before = null;
      // Arrows between visible steps, wider than a few pixels.
      const least = (to - from) / Math.max(width(), 1) * 5;
      for (const step of path) {
        const e = step.entry;
        if (before && e.begin >= from && before.end <= to && e.end - before.begin > least) arrow(context, before, e, colors.path);
        before = e;
      }
      if (selected) {
        for (const id of selected.dependencies) if (byID.has(id)) arrow(context, byID.get(id), selected, colors.accent);
        for (const id of selected.dependents.slice(0, 200)) arrow(context, selected, byID.get(id), colors.dim);
      }
      context.restore();
      paintCurve();
    }

    // How many ran: a step for each change.
    const use = [];
    {
      const changes = [];
      for (const e of leaves) { changes.push([e.started, 1]); if (e.finished >= 0) changes.push([e.finished, -1]); }
      changes.sort((a, b) => a[0] - b[0]);
      let run = 0;
      for (const [t, change] of changes) {
        run += change;
        if (use.length && use[use.length - 1].t === t) use[use.length - 1].run = run; else use.push({ t, run });
      }
    }
    const most = use.reduce((m, u) => Math.max(m, u.run), 0);
    let curveSums = null, curveWidth = -1;
    // How many ran on average in each column of so many.
    function columns(w) {
      if (curveWidth === w) return curveSums;
      const sums = new Float64Array(Math.max(1, Math.ceil(w))), px = t => t / END * w;
      for (let i = 0; i < use.length; i++) {
        const t1 = i + 1 < use.length ? use[i + 1].t : END;
        let p = px(use[i].t); const q = px(t1);
        while (p < q) { const c = Math.min(Math.floor(p), sums.length - 1), n = Math.min(q, c + 1); if (n <= p) break; sums[c] += (n - p) * use[i].run; p = n; }
      }
      curveWidth = w; curveSums = sums;
      return sums;
    }
    function paintCurve() {
      const context = prepare(curve), w = curve.clientWidth - left(), h = curve.clientHeight - 8, sums = columns(w);
      const px = t => t / END * w;
      context.fillStyle = colors.curve;
      for (let c = 0; c < sums.length; c++) if (sums[c] > 0) { const v = sums[c] / Math.max(most, 1) * (h - 14); context.fillRect(left() + c, h + 4 - v, 1, v); }
      context.fillStyle = colors.dim; context.textAlign = "left"; context.fillText("running", 8, 14); context.fillText("≤ " + most, 8, 30);
      context.strokeStyle = colors.accent; context.lineWidth = 1.5;
      context.strokeRect(left() + px(from), 2, Math.max(px(to - from), 2), curve.clientHeight - 4); context.lineWidth = 1;
    }

    // MARK: Moving

    function clamp() {
      let span = Math.min(Math.max(to - from, 10), END * 1.02);
      const low = -END * 0.01, high = END * 1.01;
      if (from < low) { from = low; to = from + span; }
      if (to > high) { to = high; from = Math.max(low, to - span); }
    }
    function zoom(factor, around) {
      const center = around === undefined ? (from + to) / 2 : around, span = Math.min(Math.max((to - from) * factor, 10), END * 1.02);
      from = center - (center - from) / (to - from) * span; to = from + span;
      clamp(); draw();
    }
    function pan(part) { const d = (to - from) * part; from += d; to += d; clamp(); draw(); }
    function fit() { from = 0; to = END * 1.005; draw(); }
    function onlyPath(isOnly) { $("only").checked = isPathOnly = isOnly; scroll.scrollTop = 0; choose(); layout(); if (selected && middle(selected) !== null) show(selected); }
    function layout() {
      canvasWidth = canvas.clientWidth;
      const count = isLanes() ? lines.length : rowsShown.length;
      scroll.style.maxHeight = Math.max(160, count * ROW + TOP + 12) + "px";
      spacer.style.height = Math.max(0, Math.min(count * ROW + TOP + 8 - scroll.clientHeight, 30000000)) + "px";
      draw();
    }
    function show(e) {
      const t0 = e.begin, t1 = e.end, span = to - from;
      if (t1 < from || t0 > to || t1 - t0 > span * 1.5) {
        const next = Math.max(span, (t1 - t0) * 1.4); from = (t0 + t1) / 2 - next / 2; to = from + next; clamp();
      }
      const y = middle(e);
      if (y !== null && (y < TOP + ROW || y > scroll.clientHeight - ROW)) scroll.scrollTop += y - scroll.clientHeight / 2;
    }

    // MARK: Details

    // A screen reader's text for the selected one.
    function spoken(e) {
      return [e.name, e.group ? "group" : "", e.outcome, e.started >= 0 ? "started at " + time(e.started) + ", ran for " + time(e.end - e.started) : "not started",
        waitsText(e) ? "waited: " + waitsText(e) : "", e.onPath ? "on the critical path" : "", e.errors.length ? "error: " + e.errors[0] : ""].filter(Boolean).join(", ");
    }

    function select(e, moves) {
      selected = e;
      const panel = $("details");
      panel.replaceChildren();
      $("status").textContent = e ? spoken(e) : "none selected";
      if (!e) { panel.append(element("h2", "Details"), element("p", "Click a procedure, or find one by name.", "dim")); draw(); return; }
      panel.append(element("h2", e.name));
      const list = element("dl");
      const add = (term, text) => { list.append(element("dt", term), element("dd", text)); };
      add("type", e.type); add("outcome", e.outcome);
      if (e.reason) add("cancel", e.reason);
      if (data.roots.length > 1) add("queue", data.roots[e.root]);
      add("enqueued", time(e.enqueued));
      if (e.ready >= 0) add("ready", time(e.ready));
      if (e.started >= 0) add("started", time(e.started));
      if (e.executing >= 0) add("executing", time(e.executing));
      if (e.cancelled >= 0) add("cancelled", time(e.cancelled));
      if (e.finished >= 0) add("finished", time(e.finished));
      if (e.started >= 0) add("ran for", time(e.end - e.started));
      if (e.lane >= 0) add("lane", String(e.lane + 1));
      if (e.onPath) add("critical path", "on it");
      panel.append(list);
      const section = (title, fill) => { panel.append(element("h3", title)); const ul = element("ul"); fill(ul); panel.append(ul); };
      const waited = (ul, waits) => {
        for (const w of waits) {
          const li = element("li", waitText(e, w)); li.style.borderLeft = "4px solid var(--" + varOf(w.cause) + ")"; li.style.paddingLeft = "5px"; li.style.listStyle = "none"; ul.append(li);
        }
      };
      const long = e.waits.filter(w => counts(e, w)), short = e.waits.filter(w => !counts(e, w));
      section("Waited", ul => {
        waited(ul, long);
        if (!long.length) ul.append(element("li", short.length ? "for nothing of more than 1 %" : "for nothing"));
      });
      if (short.length) { const fold = element("details"), ul = element("ul"); waited(ul, short); fold.append(element("summary", short.length + " shorter than 1 %"), ul); panel.append(fold); }
      if (e.errors.length) section("Errors", ul => { for (const error of e.errors) { const li = element("li"); li.append(element("pre", error)); ul.append(li); } });
      const links = (title, ids) => { if (ids.length) section(title + " (" + ids.length + ")", ul => {
        for (const id of ids.slice(0, 50)) { const li = element("li"); const o = byID.get(id); if (o) li.append(link(o)); else li.textContent = "dropped"; ul.append(li); } }); };
      if (byID.has(e.parent)) links("Part of", [e.parent]);
      links("Depends on", e.dependencies);
      links("Waited for by", e.dependents);
      if (e.children) add("children", String(e.children));
      // A link may lead to one that is hidden.
      if (moves && isPathOnly && !e.onPath) onlyPath(false);
      if (moves) show(e);
      draw();
    }

    // MARK: Tables

    function fill(table, heads, rows, caption) {
      table.replaceChildren();
      if (caption) table.append(element("caption", caption));
      const head = element("tr");
      for (const [text, kind] of heads) { const th = element("th", text, kind); th.scope = "col"; head.append(th); }
      const thead = element("thead"); thead.append(head); table.append(thead);
      const body = element("tbody");
      for (const row of rows) {
        const tr = element("tr");
        if (row.kind) tr.className = row.kind;
        row.forEach((cell, i) => { const td = element("td", undefined, heads[i][1]); if (cell instanceof Node) td.append(cell); else td.textContent = cell; tr.append(td); });
        body.append(tr);
      }
      table.append(body);
    }
    function swatch(cause, text) {
      const span = element("span"), i = element("i");
      i.style.cssText = "display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px";
      i.style.background = "var(--" + varOf(cause) + ")";
      i.setAttribute("aria-hidden", "true");
      if (cause) span.append(i);
      span.append(text);
      return span;
    }
    function tables() {
      fill($("shares"), [["cause"], ["share", "n"], ["time", "n"], ["most of it"]],
        data.shares.map(([label, cause, sum, id, longest]) => {
          const bar = element("span"), i = element("i", undefined, "meter");
          i.style.width = Math.max(1, sum / END * 160) + "px"; i.style.background = cause < 0 ? "var(--succeeded)" : "var(--" + varOf(CAUSES[cause]) + ")"; i.setAttribute("aria-hidden", "true");
          bar.append(i, label);
          const of = element("span"); if (byID.has(id)) of.append(link(byID.get(id)), ", " + time(longest));
          return [bar, percent(sum), time(sum), of];
        }), "What the critical path’s time went to. While a step runs and a later one is ready, but kept back by a slot, an exclusion or a barrier, that counts; else it is work");
      const shownPath = path.length > 200 ? path.slice(0, 100).concat(path.slice(-100)) : path;
      const rows = [];
      for (const { entry: e, link: l, gaps } of shownPath) {
        const gapRow = g => { const row = [swatch(g.cause, g.text), "", time(g.from), time(g.time), percent(g.time), ""]; row.kind = "gap"; return row; };
        const before = gaps.filter(g => !g.after);
        rows.push(...before.map(gapRow));
        const row = [link(e), l === "beginning" ? (before.length ? "the wait above" : "the first") : binding(e, l), ...(e.started >= 0 ? [time(e.begin), time(e.end - e.begin), percent(e.end - e.begin)] : ["never", "", ""]), waitsText(e)];
        row.kind = "step";
        rows.push(row, ...gaps.filter(g => g.after).map(gapRow));
      }
      fill($("path"), [["procedure"], ["began after"], ["started", "n"], ["took", "n"], ["share", "n"], ["waited for"]], rows,
        "What determined when the last procedure finished, from the first to the last; in italics, what was no procedure’s running" + (shownPath.length < path.length ? ": the first 100 and the last 100 of " + path.length : ""));
      const totals = new Map(), waits = [];
      for (const e of all) for (const w of e.waits) {
        const name = w.cause === "slot" || w.cause === "suspension" ? "of " + source(e, w.limit) : w.cause === "exclusion" || w.cause === "rate" ? w.category : ["condition", "heldEvent", "observer", "mainActor", "delay"].includes(w.cause) ? reason(e, w) : "";
        const key = w.cause + " " + name;
        if (!totals.has(key)) totals.set(key, { cause: w.cause, label: w.label + (name ? " " + name : ""), sum: 0, count: 0, longest: 0, of: null });
        const total = totals.get(key);
        total.sum += w.time; total.count++;
        if (w.time > total.longest) { total.longest = w.time; total.of = e; }
        if (counts(e, w)) waits.push({ e, w });
      }
      const causes = [...totals.values()].sort((a, b) => b.sum - a.sum), short = causes.filter(t => t.sum < LEAST_SUM);
      fill($("causes"), [["cause"], ["sum", "n"], ["procedures", "n"], ["longest", "n"], ["of"]],
        causes.filter(t => t.sum >= LEAST_SUM).map(t => [swatch(t.cause, t.label), time(t.sum), String(t.count), time(t.longest), t.of ? link(t.of) : ""]),
        "The sum over all procedures: several wait at the same time");
      $("short-causes").textContent = short.length ? "Less than 1 % together: " + short.slice(0, 20).map(t => t.label + " (" + time(t.sum) + " of " + t.count + ")").join(", ") + "." : "";
      waits.sort((a, b) => b.w.time - a.w.time);
      fill($("waits"), [["procedure"], ["cause"], ["waited", "n"], ["for"]],
        waits.slice(0, 20).map(({ e, w }) => [link(e), swatch(w.cause, w.label), time(w.time), byID.has(w.blocker) && w.cause !== "group" && w.cause !== "exclusion" ? link(byID.get(w.blocker)) : reason(e, w)]),
        "Waits of less than 1 %, of the whole and of what the procedure took, are left out");
      fill($("runs"), [["procedure"], ["took", "n"], ["share", "n"], ["critical path"]],
        leaves.slice().sort((a, b) => (b.end - b.started) - (a.end - a.started)).slice(0, 20).map(e => [link(e), time(e.end - e.started), percent(e.end - e.started), e.onPath ? "on it" : ""]),
        "From start to finish, groups not counted: on the critical path a shorter one makes the whole faster");
    }
    // Why it could not begin before the step above had finished.
    function binding(e, l) {
      switch (l) {
      case "dependency": return "its dependency";
      case "slot": return "a slot was given back, " + source(e);
      case "exclusion": { const w = e.waits.find(w => w.cause === "exclusion"); return "the exclusion" + (w && w.category ? " " + w.category : "") + " was given back"; }
      default: return "the barrier";
      }
    }
    let page = 0;
    function listed() { return matches ? byStart.filter(e => matches.has(e)) : byStart; }
    function tableOfAll() {
      const entries = listed(), pages = Math.max(1, Math.ceil(entries.length / 100));
      page = Math.min(Math.max(page, 0), pages - 1);
      const shown = entries.slice(page * 100, page * 100 + 100);
      fill($("all"), [["procedure"], ["type"], ["outcome"], ["enqueued", "n"], ["started", "n"], ["ran for", "n"], ["waited"]],
        shown.map(e => [link(e), e.type, e.outcome, time(e.enqueued), e.started >= 0 ? time(e.started) : "–", e.started >= 0 ? time(e.end - e.started) : "–", waitsText(e)]));
      $("page").textContent = entries.length ? (page * 100 + 1) + "–" + (page * 100 + shown.length) + " of " + entries.length : "none";
      $("previous").disabled = page === 0; $("next").disabled = page === pages - 1;
    }

    // MARK: Events

    function search() {
      const text = $("search").value.trim().toLowerCase();
      matches = text ? new Set(all.filter(e => e.name.toLowerCase().includes(text) || e.type.toLowerCase().includes(text))) : null;
      $("found").textContent = matches ? matches.size + " found" : "";
      choose(); page = 0; tableOfAll(); layout();
    }
    function entryAt(px, py) {
      if (px < (isLanes() ? left() : 0) || py < TOP) return null;
      const index = Math.floor((py - TOP + scroll.scrollTop) / ROW), t = at(px), slack = (to - from) / width() * 2;
      if (!isLanes()) return rowsShown[index] || null;
      const row = lines[index]?.row;
      if (!row) return null;
      const i = firstAfter(row, t - slack);
      let best = null;
      for (let j = i; j < row.length && row[j].started <= t + slack; j++) if (!best || (row[j].started <= t && t <= row[j].end)) best = row[j];
      return best;
    }
    let drag = null;
    canvas.addEventListener("pointerdown", event => { drag = { x: event.offsetX, y: event.offsetY, from, to, top: scroll.scrollTop, moved: false }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", event => {
      if (drag) {
        const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
        if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
        if (drag.moved) { const d = dx / width() * (drag.to - drag.from); from = drag.from - d; to = drag.to - d; clamp(); scroll.scrollTop = drag.top - dy; draw(); }
        return;
      }
      const e = entryAt(event.offsetX, event.offsetY);
      if (e !== hovered) { hovered = e; canvas.title = e ? e.name + ", " + (e.started >= 0 ? time(e.end - e.started) : e.outcome) : ""; draw(); }
    });
    canvas.addEventListener("pointerup", event => { if (drag && !drag.moved) select(entryAt(event.offsetX, event.offsetY)); drag = null; });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("dblclick", event => { const e = entryAt(event.offsetX, event.offsetY); if (e) { const pad = Math.max(e.end - e.begin, 20) * 0.3; from = e.begin - pad; to = e.end + pad; clamp(); draw(); } });
    canvas.addEventListener("wheel", event => {
      if (event.ctrlKey || event.metaKey) { event.preventDefault(); zoom(Math.exp(event.deltaY * 0.002), at(event.offsetX)); }
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); pan((event.deltaX || event.deltaY) / width()); }
    }, { passive: false });
    function step(by) {
      const list = isLanes() ? listShown.filter(e => e.line >= 0) : rowsShown;
      if (!list.length) return;
      const index = selected ? list.indexOf(selected) + by : by > 0 ? 0 : list.length - 1;
      select(list[Math.min(Math.max(index, 0), list.length - 1)], true);
    }
    canvas.addEventListener("keydown", event => {
      const keys = { ArrowLeft: () => event.shiftKey ? pan(-0.2) : step(-1), ArrowRight: () => event.shiftKey ? pan(0.2) : step(1),
        ArrowUp: () => { scroll.scrollTop -= ROW * 2; }, ArrowDown: () => { scroll.scrollTop += ROW * 2; },
        "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), "0": fit, Home: () => step(-1e9), End: () => step(1e9), Escape: () => select(null) };
      const action = keys[event.key];
      if (action && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); action(); }
    });
    curve.addEventListener("pointerdown", event => { const t = (event.offsetX - left()) / (curve.clientWidth - left()) * END, span = to - from; from = t - span / 2; to = from + span; clamp(); draw(); });
    scroll.addEventListener("scroll", draw);
    $("search").addEventListener("input", search);
    $("search").addEventListener("keydown", event => { if (event.key === "Enter" && matches && matches.size) { const list = listed(); select(list[(list.indexOf(selected) + 1) % list.length], true); } });
    $("view").addEventListener("change", () => { view = $("view").value; scroll.scrollTop = 0; legend(); layout(); if (selected) show(selected); });
    $("in").addEventListener("click", () => zoom(0.6)); $("out").addEventListener("click", () => zoom(1 / 0.6)); $("fit").addEventListener("click", fit);
    $("only").addEventListener("change", () => onlyPath($("only").checked));
    $("previous").addEventListener("click", () => { page--; tableOfAll(); }); $("next").addEventListener("click", () => { page++; tableOfAll(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); draw(); });
    new ResizeObserver(layout).observe(scroll);

    // MARK: Begin

    $("title").textContent = data.title;
    const groups = all.filter(e => e.group).length, plural = (n, what) => n + " " + what + (n === 1 ? "" : "s");
    const count = name => all.filter(e => e.outcome === name).length;
    $("stats").textContent = [plural(all.length - groups, "procedure"), ...(groups ? [plural(groups, "group")] : []), time(data.end),
      "at most " + most + " at once", (leaves.reduce((s, e) => s + e.end - e.started, 0) / END).toFixed(2) + " on average",
      ...["failed", "cancelled", "running", "waiting"].filter(count).map(o => count(o) + " " + o), ...(data.dropped ? [data.dropped + " older ones were dropped"] : [])].join(" · ");
    $("verdict").textContent = data.verdict;
    // Only procedures of this timeline.
    const used = CAUSES.map((cause, i) => ({ cause, label: LABELS[i] })).filter(({ cause }) => all.some(e => e.waits.some(w => w.cause === cause)));
    const marks = { failed: "✕ ", cancelled: "⊘ " };
    // What the chosen rows draw: lanes show nothing before a start.
    function legend() {
      const isDrawn = e => !e.group && (e.started >= 0 || (!isLanes() && e.outcome === "cancelled"));
      const outcomes = ["succeeded", "failed", "cancelled", "running"].filter(o => all.some(e => e.outcome === o && isDrawn(e)));
      $("legend").replaceChildren();
      for (const [name, text, kind, cause] of [...outcomes.map(o => [o, (marks[o] || "") + o]), ...(groups ? [["group", "bar of a group"]] : []), ...(path.length ? [["path", "on the critical path", "line"]] : []),
        ...used.filter(({ cause }) => !isLanes() || AFTER_START.has(cause)).map(({ cause, label }) => [varOf(cause), AFTER_START.has(cause) ? label : "wait: " + label, undefined, label])]) {
        const li = element("li"), i = element("i", undefined, kind); i.style.background = "var(--" + name + ")"; i.setAttribute("aria-hidden", "true"); li.append(i, text); if (cause) li.dataset.cause = cause; $("legend").append(li);
      }
    }
    const TERMS = {
      dependency: "It waited until the last procedure that it depends on had finished.",
      barrier: "It waited for what was added before a barrier, or for the barrier: the name says for which procedure last.",
      condition: "It waited for the answer of the condition that is named.",
      group: "Its group had not begun, or had given up its slot; what the group waited for is named.",
      suspension: "Its queue, or group, was suspended.",
      exclusion: "Another procedure held the category that is named.",
      rate: "A rate lets only so many of the category start in an interval.",
      slot: "As many were running as the limit of its queue, or group, allows.",
      worker: "It had all it needed, and no thread had come yet.",
      heldEvent: "An observer held the start (willExecute) or the end (willFinish) back. A part of the bar, after the start.",
      observer: "Observers of the event that is named were being called. A part of the bar.",
      mainActor: "It waited for the main actor, to begin its closure or to call an observer. A part of the bar.",
      delay: "A delay, which does nothing else, or the interval before the next attempt of a retry or a repeat.",
      lingering: "It was cancelled, and had not finished yet. A part of the bar.",
    };
    const describe = (term, text) => $("terms").append(element("dt", term), element("dd", text));
    describe("critical path", "The procedures that determined when the last one finished. Only a change to one of these, or to what binds it to the one before, makes the whole faster.");
    describe("lane", "A row of procedures that ran one after another, as if a worker were held from start to finish. Lanes are not threads.");
    describe("enqueued, ready, started", "It came onto the queue; its dependencies and conditions were done; a worker picked it up, with a slot.");
    describe("slot", "The right to run: a queue gives as many as its limit.");
    if (groups) describe("group", "A procedure that consists of others. It is drawn behind those.");
    for (const { cause, label } of used) describe((AFTER_START.has(cause) ? "" : "wait: ") + label, TERMS[cause]);
    choose(); legend(); readColors(); layout(); fit(); tables(); tableOfAll(); layout();
    // For tests: where a procedure is drawn.
    window.timelinePage = { bounds(id) { const e = byID.get(id), y = e && middle(e); if (!e || y === null) return null; const r = canvas.getBoundingClientRect(); return { x: r.left + (x(e.begin) + x(e.end)) / 2, y: r.top + y }; }, paint, zoom, select: id => select(byID.get(id), true) };
    document.documentElement.dataset.ready = "yes";
    })();
    </script>
    </body>
    </html>
    """#
}
