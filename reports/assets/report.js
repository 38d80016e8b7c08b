"use strict";
// Draws the report from two documents in the page: the result and what a picture needs besides. It asks nothing of the
// network and keeps nothing. Whatever comes from a run goes through textContent or a canvas: it can only ever be text.
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const result = read("result");
  const report = read("report");
  const main = document.getElementById("main");
  const tip = document.getElementById("tip");

  // ------------------------------------------------------------------ small things

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const round = (value, digits = 4) => Number(value.toPrecision(digits));
  const time = (seconds) => {
    if (seconds === null || seconds === undefined) return "–";
    const s = Math.abs(seconds);
    if (s < 60) return `${round(seconds, 3)} s`;
    if (s < 3600) return `${round(seconds / 60, 3)} min`;
    if (s < 172800) return `${round(seconds / 3600, 3)} h`;
    return `${round(seconds / 86400, 3)} d`;
  };
  const show = (value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : String(round(value, 6));
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  };
  const section = (title, note) => {
    const made = element("section");
    made.append(element("h2", title));
    if (note) made.append(element("p", note, "note"));
    main.append(made);
    return made;
  };
  const legend = (entries) => {
    const made = element("div", undefined, "legend");
    for (const [name, color] of entries) {
      const item = element("span");
      const swatch = element("i");
      swatch.style.background = `var(${color})`;
      item.append(swatch, name);
      made.append(item);
    }
    return made;
  };

  // A table whose columns are {title, value(row), text(row)?, node(row)?, long?}; sorts by its heads, filters, pages.
  const table = (parent, columns, rows, { page = 50, find } = {}) => {
    let sorted = rows.slice();
    let order = null;
    let first = 0;
    let word = "";
    const made = element("table");
    const head = element("tr");
    const body = element("tbody");
    const count = element("span", "", "note");
    const draw = () => {
      const shown = word ? sorted.filter((r) => find(r).toLowerCase().includes(word)) : sorted;
      first = Math.max(0, Math.min(first, Math.floor((shown.length - 1) / page) * page));
      const lines = shown.slice(first, first + page).map((row) => {
        const line = element("tr");
        for (const column of columns) {
          const value = column.value(row);
          const cell = element("td", column.node ? undefined : column.text ? column.text(row) : show(value),
                               typeof value === "number" ? "number" : column.long ? "long" : "");
          if (column.node) cell.append(column.node(row));
          line.append(cell);
        }
        return line;
      });
      body.replaceChildren(...lines);
      count.textContent = shown.length === 0 ? "none" : `${first + 1}–${Math.min(first + page, shown.length)} of ${shown.length}`;
    };
    for (const column of columns) {
      const cell = element("th", undefined, rows.length > 0 && typeof column.value(rows[0]) === "number" ? "number" : "");
      cell.scope = "col";
      const button = element("button", column.title);
      button.addEventListener("click", () => {
        const down = order === column ? -1 : 1;
        order = down === 1 ? column : null;
        sorted = rows.slice().sort((a, b) => {
          const [x, y] = [column.value(a), column.value(b)];
          if (x === y) return 0;
          if (x === null || x === undefined) return 1;
          if (y === null || y === undefined) return -1;
          return (x < y ? -1 : 1) * down;
        });
        draw();
      });
      cell.append(button);
      head.append(cell);
    }
    const thead = element("thead");
    thead.append(head);
    made.append(thead, body);
    const scroll = element("div", undefined, "scroll");
    scroll.append(made);
    if (rows.length > page) {
      const bar = element("div", undefined, "bar");
      const back = element("button", "◀ back");
      const on = element("button", "on ▶");
      back.addEventListener("click", () => { first -= page; draw(); });
      on.addEventListener("click", () => { first += page; draw(); });
      bar.append(back, on, count);
      if (find) {
        const input = element("input");
        input.type = "search";
        input.placeholder = "find";
        input.setAttribute("aria-label", "find in the table");
        input.addEventListener("input", () => { word = input.value.toLowerCase(); first = 0; draw(); });
        bar.append(input);
      }
      parent.append(bar);
    }
    parent.append(scroll);
    draw();
  };

  const tooltip = (event, text) => {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const wide = tip.offsetWidth + 16;
    const high = tip.offsetHeight + 16;
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - wide)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - high)}px`;
  };

  // A canvas that knows its size in CSS pixels and is drawn again when that or the colours change.
  const canvas = (parent, height, label, draw) => {
    const made = element("canvas");
    made.style.height = `${height}px`;
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
    parent.append(made);
    const again = () => {
      const ratio = window.devicePixelRatio || 1;
      const width = made.clientWidth;
      made.width = Math.max(1, Math.round(width * ratio));
      made.height = Math.round(height * ratio);
      const context = made.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = "12px system-ui, sans-serif";
      draw(context, width, height);
    };
    new ResizeObserver(again).observe(made);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    return { node: made, again };
  };

  const niceStep = (span, most) => {
    const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000];
    return steps.find((step) => span / step <= most) ?? span / most;
  };
  const timeAxis = (context, x0, x1, y, from, to, color) => {
    const step = niceStep(to - from, Math.max(2, (x1 - x0) / 90));
    context.fillStyle = color;
    context.textBaseline = "top";
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = x0 + ((t - from) / (to - from)) * (x1 - x0);
      context.globalAlpha = 0.35;
      context.fillRect(x, 0, 1, y);
      context.globalAlpha = 1;
      if (x < x1 - 36) context.fillText(t === 0 ? "0" : time(t), x + 3, y + 3);
    }
  };

  // ------------------------------------------------------------------ head

  document.title = `${result.scenario} – tfsim report`;
  document.getElementById("title").textContent = result.scenario;
  const verdict = document.getElementById("verdict");
  verdict.textContent = result.verdict + (result.reason ? ": " + result.reason : "");
  verdict.className = result.verdict;
  const ensemble = result.schema === "tfsim.ensemble/v1";
  document.getElementById("about").textContent = ensemble
    ? `${result.runs} runs, version ${result.version}`
    : `seed ${result.seed} · ${time(result.simulated_seconds)} simulated in ${time(result.wall_seconds)} · digest ${result.digest} · version ${result.version}`;

  const checks = () => {
    if (result.expectations && result.expectations.length > 0) {
      const part = section("Expectations");
      table(part, [
        { title: "held", value: (e) => (e.passed ? "yes" : "NO"), node: (e) => element("span", e.passed ? "yes" : "NO", e.passed ? "ok" : "broken") },
        { title: "expected", value: (e) => e.text, long: true },
        { title: "got", value: (e) => e.got, long: true }], result.expectations);
    }
    if (result.invariants) {
      const broken = result.invariants.filter((i) => i.violations > 0).length;
      const part = section("Invariants", broken === 0 ? "None was broken." : `${broken} broken.`);
      table(part, [
        { title: "invariant", value: (i) => i.name },
        { title: "checked", value: (i) => i.checked },
        { title: "violations", value: (i) => i.violations },
        { title: "first", value: (i) => i.first_detail ?? (i.off_because ? `off: ${i.off_because}` : ""), long: true }], result.invariants);
    }
  };

  if (ensemble) {
    checks();
    const names = ["count", "mean", "sd", "min", "p50", "p99", "max"];
    const part = section("Metrics over all runs");
    table(part, [{ title: "metric", value: ([name]) => name }, ...names.map((n) => ({ title: n, value: ([, m]) => m[n] }))],
          Object.entries(result.metrics));
    if (result.failed && result.failed.length > 0) {
      table(section("Failed runs"), [
        { title: "seed", value: (f) => f.seed }, { title: "why", value: (f) => f.reason, long: true },
        { title: "replay", value: (f) => f.replay, long: true }], result.failed);
    }
    return;
  }

  // ------------------------------------------------------------------ the run in numbers

  const jobs = result.jobs;
  const end = Math.max(result.simulated_seconds, 1e-9);
  const tiles = section("The run in numbers");
  const grid = element("div", undefined, "tiles");
  const ended = { SUCCEEDED: 0, FAILED: 0, KILLED: 0, UNFINISHED: 0 };
  for (const job of jobs) ended[job.status] += 1;
  const m = result.metrics;
  const percent = (value) => (value === null || value === undefined ? "–" : `${round(value * 100, 3)} %`);
  for (const [id, name, value] of [
    ["tile-jobs", "jobs", show(jobs.length)],
    ["tile-succeeded", "succeeded", show(ended.SUCCEEDED)],
    ["tile-failed", "failed or killed", show(ended.FAILED + ended.KILLED)],
    ["tile-unfinished", "unfinished", show(ended.UNFINISHED)],
    ["tile-utilization", "GPU time in use", percent(m.gpu_utilization)],
    ["tile-goodput", "of it, useful training", percent(m.goodput)],
    ["tile-jct", "median time to completion", time(m.jct_p50_seconds)],
    ["tile-start", "mean wait until training", time(m.start_wait_mean_seconds)],
    ["tile-faults", "faults", show(result.faults.length + (result.faults_left_out ?? 0))]]) {
    const tile = element("div", undefined, "tile");
    const number = element("b", value);
    number.id = id;
    tile.append(number, element("span", name));
    grid.append(tile);
  }
  tiles.append(grid);
  checks();

  // ------------------------------------------------------------------ use of the cluster over time

  const uses = [["training", "--useful"], ["overhead", "--overhead"], ["incomplete", "--incomplete"], ["free", "--free"], ["down", "--down"]];
  const useNames = { training: "training", overhead: "launching, checkpoint, restore", incomplete: "held by incomplete gangs", free: "free", down: "down" };
  if (report.usage && report.usage.points.length > 0) {
    const part = section(`${report.usage.unit === "gpus" ? "GPUs" : "vcores"} over time`, "What the capacity of all nodes was used for.");
    part.append(legend(uses.map(([name, color]) => [useNames[name], color])));
    const points = report.usage.points;
    const width = report.usage.bucket_seconds;
    const top = Math.max(1, ...points.map((p) => p.reduce((a, b) => a + b, 0)));
    const chart = canvas(part, 240, "stacked areas: use of the cluster over time", (context, w, h) => {
      const [left, right, bottom] = [46, w - 8, h - 22];
      const x = (i) => left + Math.min(1, (i * width) / end) * (right - left);
      for (let i = 0; i < points.length; i += 1) {
        let y = bottom;
        for (let use = 0; use < uses.length; use += 1) {
          const high = (points[i][use] / top) * (bottom - 10);
          context.fillStyle = css(uses[use][1]);
          context.fillRect(x(i), y - high, Math.max(1, x(i + 1) - x(i) + 0.5), high);
          y -= high;
        }
      }
      context.fillStyle = css("--dim");
      context.textBaseline = "middle";
      for (const share of [0, 0.5, 1]) context.fillText(show(Math.round(top * share)), 6, bottom - share * (bottom - 10));
      timeAxis(context, left, right, bottom, 0, end, css("--dim"));
    });
    chart.node.addEventListener("mousemove", (event) => {
      const box = chart.node.getBoundingClientRect();
      const share = (event.clientX - box.left - 46) / (box.width - 54);
      const i = Math.floor((share * end) / width);
      const point = points[i];
      tooltip(event, point && `${time(i * width)}\n` + uses.map(([name], n) => `${useNames[name]}: ${show(round(point[n]))}`).join("\n"));
    });
    chart.node.addEventListener("mouseleave", (event) => tooltip(event, ""));
  }

  // ------------------------------------------------------------------ timelines

  const phases = {
    queued: ["waiting for the AM", "--queued"], "gang-wait": ["waiting for the gang", "--gang"],
    launching: ["localising, registering", "--launch"], restore: ["restoring", "--restore"], training: ["training", "--train"],
    checkpoint: ["checkpoint", "--check"], idle: ["standing still", "--idle"], done: ["ending", "--queued"] };
  const marksOf = new Map();
  for (const [job, at, phase] of report.timeline?.marks ?? []) {
    if (!marksOf.has(job)) marksOf.set(job, []);
    marksOf.get(job).push([at, phase]);
  }
  // Segments of a job: [begin, end, phase], without gaps from submission to end.
  const segmentsOf = (index) => {
    const marks = marksOf.get(index) ?? [];
    const segments = [];
    for (let i = 0; i < marks.length; i += 1) {
      const [at, phase] = marks[i];
      if (phase === "ended") break;
      const to = i + 1 < marks.length ? marks[i + 1][0] : jobs[index].finished ?? end;
      if (to > at) segments.push([at, to, phase]);
    }
    return segments;
  };
  const hue = (index) => `hsl(${(index * 137.508) % 360} 45% 52%)`;

  const jobRows = jobs.map((job, index) => ({
    label: job.name, lanes: 1,
    bars: segmentsOf(index).map(([a, b, phase]) => ({ a, b, lane: 0, span: 1, color: phases[phase]?.[1] ?? "--idle", text: () =>
      `${job.name}: ${phases[phase]?.[0] ?? phase}\n${time(a)} to ${time(b)} (${time(b - a)})\n${job.status}` })) }));

  const nodeRows = (() => {
    const byNode = new Map();
    for (const [node, container, job, task, gpus, a, b] of report.timeline?.bars ?? []) {
      if (!byNode.has(node)) byNode.set(node, []);
      byNode.get(node).push({ a, b, job, task, gpus, container });
    }
    for (const [node] of report.timeline?.outages ?? []) if (!byNode.has(node)) byNode.set(node, []);
    const natural = new Intl.Collator("en", { numeric: true });
    return [...byNode.entries()].sort(([x], [y]) => natural.compare(x, y)).map(([node, bars]) => {
      bars.sort((x, y) => x.a - y.a);
      const free = [];
      const placed = bars.map((bar) => {
        const span = Math.max(1, bar.gpus);
        let lane = 0;
        while (true) {
          let fits = true;
          for (let l = lane; l < lane + span; l += 1) if ((free[l] ?? 0) > bar.a) { fits = false; lane = l + 1; break; }
          if (fits) break;
        }
        for (let l = lane; l < lane + span; l += 1) free[l] = bar.b;
        return { a: bar.a, b: bar.b, lane, span, color: bar.task === "am" ? "--queued" : hue(bar.job), text: () =>
          `${jobs[bar.job]?.name ?? "?"} ${bar.task || "task"} on ${node}\n${bar.gpus} GPUs, ${bar.container}\n${time(bar.a)} to ${time(bar.b)} (${time(bar.b - bar.a)})` };
      });
      for (const [name, a, b] of report.timeline.outages) {
        if (name === node) placed.push({ a, b, lane: 0, span: -1, color: "--down", text: () => `${node} down\n${time(a)} to ${time(b)}` });
      }
      placed.sort((x, y) => x.a - y.a);
      return { label: node, lanes: Math.max(1, free.length), bars: placed };
    });
  })();

  const faultsFor = (label) => result.faults.filter((f) => f.target && f.target.split(/[ ,|]+/).includes(label));

  if (jobRows.length > 0) {
    const part = section("Timeline", "Drag to move, wheel to scroll, Ctrl + wheel or + and − to zoom, 0 for everything. ▼ marks a fault.");
    const bar = element("div", undefined, "bar");
    const buttons = {};
    const view = { kind: "jobs", from: 0, to: end, top: 0 };
    const rowsOf = { jobs: jobRows, nodes: nodeRows };
    const keys = legend([]);
    const left = 130;
    const height = 460;
    const foot = 22;
    const heightOf = (row) => (view.kind === "jobs" ? 18 : Math.max(20, Math.min(8 * row.lanes, 72)) + 4);
    const offsets = { jobs: null, nodes: null };
    const offsetsNow = () => {
      if (!offsets[view.kind]) {
        let y = 0;
        offsets[view.kind] = rowsOf[view.kind].map((row) => { const at = y; y += heightOf(row); return at; });
        offsets[view.kind].push(y);
      }
      return offsets[view.kind];
    };
    // First bar of a row that may reach into [from, ...): bars are sorted by begin; `latest` is the running maximum of ends.
    const prepare = (row) => {
      if (row.latest) return;
      row.latest = new Float64Array(row.bars.length);
      let most = -Infinity;
      row.bars.forEach((b, i) => { most = Math.max(most, b.b); row.latest[i] = most; });
      row.faults = faultsFor(row.label);
    };
    const firstFrom = (row, from) => {
      let [low, high] = [0, row.bars.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (row.latest[middle] < from) low = middle + 1; else high = middle;
      }
      return low;
    };
    const firstRow = (table_, y) => {
      let [low, high] = [0, table_.length - 1];
      while (low + 1 < high) {
        const middle = (low + high) >> 1;
        if (table_[middle] <= y) low = middle; else high = middle;
      }
      return low;
    };
    const colors = new Map();
    const colorOf = (name) => {
      if (!name.startsWith("--")) return name;
      if (!colors.has(name)) colors.set(name, css(name));
      return colors.get(name);
    };
    const draw = (context, w) => {
      colors.clear();
      const right = w - 6;
      const bottom = height - foot;
      const scale = (right - left) / (view.to - view.from);
      const table_ = offsetsNow();
      const rows = rowsOf[view.kind];
      context.save();
      context.beginPath();
      context.rect(0, 0, w, bottom);
      context.clip();
      for (let r = firstRow(table_, view.top); r < rows.length && table_[r] - view.top < bottom; r += 1) {
        const row = rows[r];
        prepare(row);
        const y = table_[r] - view.top;
        const high = heightOf(row) - 4;
        const lane = high / row.lanes;
        let drawn = -Infinity;
        for (let i = firstFrom(row, view.from); i < row.bars.length && row.bars[i].a <= view.to; i += 1) {
          const b = row.bars[i];
          const x0 = Math.max(left, left + (b.a - view.from) * scale);
          const x1 = Math.min(right, left + (b.b - view.from) * scale);
          if (x1 < left) continue;
          // Bars thinner than a pixel that fall on the one before add nothing to see.
          if (row.lanes === 1 && x1 - x0 < 0.5 && x0 - drawn < 0.5) continue;
          drawn = x0;
          context.fillStyle = colorOf(b.color);
          if (b.span < 0) {
            context.globalAlpha = 0.45;
            context.fillRect(x0, y, Math.max(1, x1 - x0), high);
            context.globalAlpha = 1;
          } else {
            context.fillRect(x0, y + b.lane * lane, Math.max(0.8, x1 - x0 - 0.3), Math.max(1, b.span * lane - 0.6));
          }
        }
        context.fillStyle = css("--bad");
        for (const fault of row.faults) {
          if (fault.at < view.from || fault.at > view.to) continue;
          const x = left + (fault.at - view.from) * scale;
          context.beginPath();
          context.moveTo(x - 4, y);
          context.lineTo(x + 4, y);
          context.lineTo(x, y + 7);
          context.fill();
        }
        context.fillStyle = css("--dim");
        context.textBaseline = "middle";
        context.save();
        context.beginPath();
        context.rect(0, y, left - 6, high);
        context.clip();
        context.fillText(row.label, 6, y + high / 2);
        context.restore();
      }
      context.restore();
      timeAxis(context, left, right, bottom, view.from, view.to, css("--dim"));
    };
    part.append(bar, keys);
    const chart = canvas(part, height, "timeline of jobs or nodes; the tables below hold the same in text", draw);
    chart.node.tabIndex = 0;
    chart.node.className = "drag";
    let waiting = false;
    const refresh = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; chart.again(); });
    };
    const clamp = () => {
      const span = Math.min(end, Math.max(end / 1e7, view.to - view.from));
      view.from = Math.max(0, Math.min(view.from, end - span));
      view.to = view.from + span;
      const table_ = offsetsNow();
      view.top = Math.max(0, Math.min(view.top, table_[table_.length - 1] - (height - foot) + 4));
    };
    const zoom = (factor, share = 0.5) => {
      const at = view.from + share * (view.to - view.from);
      const span = (view.to - view.from) * factor;
      view.from = at - share * span;
      view.to = view.from + Math.min(span, end);
      clamp();
      refresh();
    };
    const pan = (share, rows) => {
      const by = share * (view.to - view.from);
      view.from += by;
      view.to += by;
      view.top += rows;
      clamp();
      refresh();
    };
    const choose = (kind) => {
      view.kind = kind;
      view.top = 0;
      for (const [name, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String(name === kind));
      keys.replaceChildren(...legend(kind === "jobs"
        ? Object.values(phases).slice(0, 7)
        : [["one colour a job", "--train"], ["ApplicationMaster", "--queued"], ["node down", "--down"]]).childNodes);
      refresh();
    };
    for (const [kind, name] of [["jobs", `Jobs (${jobRows.length})`], ["nodes", `Nodes (${nodeRows.length})`]]) {
      const button = element("button", name);
      buttons[kind] = button;
      button.addEventListener("click", () => choose(kind));
      bar.append(button);
    }
    for (const [name, label, act] of [["+", "zoom in", () => zoom(0.5)], ["−", "zoom out", () => zoom(2)],
                                     ["0", "show everything", () => { view.from = 0; view.to = end; view.top = 0; refresh(); }]]) {
      const button = element("button", name);
      button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
      bar.append(button);
    }
    if (report.timeline.left_out > 0) bar.append(element("span", `${show(report.timeline.left_out)} marks and bars are left out`, "note"));
    chart.node.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = chart.node.getBoundingClientRect();
      if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (event.clientX - box.left - left) / (box.width - left))));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / box.width, 0);
      else pan(0, event.deltaY);
    }, { passive: false });
    let grip = null;
    chart.node.addEventListener("pointerdown", (event) => { grip = [event.clientX, event.clientY]; chart.node.setPointerCapture(event.pointerId); });
    chart.node.addEventListener("pointerup", () => { grip = null; });
    chart.node.addEventListener("pointermove", (event) => {
      const box = chart.node.getBoundingClientRect();
      if (grip) {
        pan(-(event.clientX - grip[0]) / (box.width - left), -(event.clientY - grip[1]));
        grip = [event.clientX, event.clientY];
        return tooltip(event, "");
      }
      const table_ = offsetsNow();
      const rows = rowsOf[view.kind];
      const y = event.clientY - box.top + view.top;
      const t = view.from + ((event.clientX - box.left - left) / (box.width - 6 - left)) * (view.to - view.from);
      const r = firstRow(table_, y);
      const row = rows[r];
      if (!row || event.clientX - box.left < left) return tooltip(event, row ? row.label : "");
      prepare(row);
      const near = ((view.to - view.from) / (box.width - left)) * 5;
      const fault = row.faults.find((f) => Math.abs(f.at - t) < near);
      const lane = Math.floor(((y - table_[r]) / (heightOf(row) - 4)) * row.lanes);
      const hit = row.bars.find((b) => b.a <= t && t < b.b && (b.span < 0 || (lane >= b.lane && lane < b.lane + b.span)));
      tooltip(event, fault ? `${fault.kind} of ${fault.target} at ${time(fault.at)}\nnoticed ${time(fault.detected === null ? null : fault.detected - fault.at)} later, recovered ${time(fault.recovered === null ? null : fault.recovered - fault.at)} later`
        : hit ? hit.text() : "");
    });
    chart.node.addEventListener("pointerleave", (event) => tooltip(event, ""));
    chart.node.addEventListener("keydown", (event) => {
      const act = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => { view.from = 0; view.to = end; refresh(); },
                    ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, -60), ArrowDown: () => pan(0, 60),
                    PageUp: () => pan(0, -400), PageDown: () => pan(0, 400) }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    choose("jobs");
    // For measuring: how the page's own test pans.
    window.tfsimTimeline = { choose, pan, zoom, bars: jobRows.reduce((n, r) => n + r.bars.length, 0) + nodeRows.reduce((n, r) => n + r.bars.length, 0) };
  }

  // ------------------------------------------------------------------ distributions

  if (report.histograms && report.histograms.some((h) => h.counts.some((c) => c > 0))) {
    const part = section("Waiting", "How many jobs waited how long (seconds, bars of growing width).");
    const charts = element("div", undefined, "charts");
    part.append(charts);
    for (const histogram of report.histograms) {
      const holder = element("div");
      const total = histogram.counts.reduce((a, b) => a + b, 0);
      holder.append(element("h3", `${histogram.name.replaceAll("_", " ")} – ${total} jobs`));
      charts.append(holder);
      const top = Math.max(1, ...histogram.counts);
      const count = histogram.counts.length;
      const chart = canvas(holder, 150, `histogram of ${histogram.name}`, (context, w, h) => {
        const step = (w - 12) / count;
        const bottom = h - 20;
        histogram.counts.forEach((n, i) => {
          const high = (n / top) * (bottom - 14);
          context.fillStyle = css("--accent");
          context.fillRect(6 + i * step, bottom - high, Math.max(1, step - 1.5), high);
        });
        context.fillStyle = css("--dim");
        context.textBaseline = "top";
        const every = Math.max(1, Math.ceil(count / (w / 64)));
        for (let i = 0; i < count; i += every) context.fillText(time(histogram.edges[i]), 6 + i * step, bottom + 4);
      });
      chart.node.addEventListener("mousemove", (event) => {
        const box = chart.node.getBoundingClientRect();
        const i = Math.floor((event.clientX - box.left - 6) / ((box.width - 12) / count));
        if (i < 0 || i >= count) return tooltip(event, "");
        const upper = histogram.edges[i + 1];
        tooltip(event, `${time(histogram.edges[i])} to ${upper === undefined ? "more" : time(upper)}: ${histogram.counts[i]} jobs`);
      });
      chart.node.addEventListener("mouseleave", (event) => tooltip(event, ""));
    }
  }

  // ------------------------------------------------------------------ jobs

  const shares = [["useful", "--useful"], ["checkpoint", "--check"], ["lost", "--down"], ["recovery", "--restore"], ["waiting", "--queued"]];
  const splitBar = (job) => {
    const made = element("div", undefined, "split");
    const held = job.gpu_seconds.held || 1;
    made.title = shares.map(([name]) => `${name} ${show(round(job.gpu_seconds[name]))} GPU-s`).join(", ");
    for (const [name, color] of shares) {
      const piece = element("i");
      piece.style.width = `${(100 * job.gpu_seconds[name]) / held}%`;
      piece.style.background = `var(${color})`;
      made.append(piece);
    }
    return made;
  };
  const jobsPart = section("Jobs", "Where each job's GPU time went: the five parts add up to the time its containers held GPUs.");
  jobsPart.append(legend(shares));
  table(jobsPart, [
    { title: "job", value: (j) => j.name, long: true },
    { title: "status", value: (j) => j.status, node: (j) => element("span", j.status, j.status === "SUCCEEDED" ? "ok" : j.status === "UNFINISHED" ? "" : "broken") },
    { title: "submitted", value: (j) => j.submitted, text: (j) => time(j.submitted) },
    { title: "AM wait", value: (j) => j.queue_wait_seconds, text: (j) => time(j.queue_wait_seconds) },
    { title: "gang wait", value: (j) => j.gang_wait_seconds, text: (j) => time(j.gang_wait_seconds) },
    { title: "start wait", value: (j) => j.start_wait_seconds, text: (j) => time(j.start_wait_seconds) },
    { title: "took", value: (j) => j.jct_seconds, text: (j) => time(j.jct_seconds) },
    { title: "epochs", value: (j) => j.epochs },
    { title: "restarts", value: (j) => j.restarts.task + j.restarts.gang + j.restarts.job },
    { title: "lost work", value: (j) => j.lost_work_seconds, text: (j) => time(j.lost_work_seconds) },
    { title: "GPU-h held", value: (j) => j.gpu_seconds.held / 3600, text: (j) => show(round(j.gpu_seconds.held / 3600, 3)) },
    { title: "GPU time", value: (j) => j.gpu_seconds.useful / (j.gpu_seconds.held || 1), node: splitBar },
    { title: "what happened", value: (j) => j.diagnostics, long: true }],
    jobs, { find: (j) => `${j.name} ${j.status} ${j.diagnostics}` });

  const withTasks = jobs.filter((j) => j.tasks && j.tasks.some((t) => t.attempts.length > 1));
  if (withTasks.length > 0) {
    const rows = withTasks.flatMap((j) => j.tasks.flatMap((t) => t.attempts.map((a) => ({ job: j.name, task: t.task, ...a }))));
    table(section("Task attempts", "Of jobs in which some task ran more than once."), [
      { title: "job", value: (r) => r.job, long: true }, { title: "task", value: (r) => r.task }, { title: "attempt", value: (r) => r.attempt },
      { title: "epoch", value: (r) => r.epoch }, { title: "node", value: (r) => r.node },
      { title: "started", value: (r) => r.started, text: (r) => time(r.started) },
      { title: "ended", value: (r) => r.finished, text: (r) => time(r.finished) }, { title: "exit", value: (r) => r.exit },
      { title: "class", value: (r) => r.exit_class }, { title: "diagnostics", value: (r) => r.diagnostics ?? "", long: true }],
      rows, { find: (r) => `${r.job} ${r.task} ${r.node} ${r.exit_class}` });
  }

  if (result.faults.length > 0) {
    const after = (f, what) => (f[what] === null || f[what] === undefined ? null : f[what] - f.at);
    table(section("Faults", "Noticed: an ApplicationMaster recorded the first victim. Recovered: every job it hit was running again, or had ended."), [
      { title: "fault", value: (f) => `${f.index}.${f.instance}` }, { title: "kind", value: (f) => f.kind }, { title: "target", value: (f) => f.target, long: true },
      { title: "at", value: (f) => f.at, text: (f) => time(f.at) }, { title: "ended", value: (f) => f.ended, text: (f) => time(f.ended) },
      { title: "noticed after", value: (f) => after(f, "detected"), text: (f) => time(after(f, "detected")) },
      { title: "recovered after", value: (f) => after(f, "recovered"), text: (f) => time(after(f, "recovered")) }],
      result.faults, { find: (f) => `${f.kind} ${f.target}` });
  }

  const metrics = section("All metrics");
  table(metrics, [{ title: "metric", value: ([name]) => name }, { title: "value", value: ([, value]) => value }], Object.entries(result.metrics));

  if (report.scenario_yaml) {
    const part = section("The scenario", "As it ran: includes, defaults and --set merged.");
    const details = element("details");
    details.append(element("summary", "show"), element("pre", report.scenario_yaml));
    part.append(details);
  }
})();
