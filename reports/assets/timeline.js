// The timeline: a row for each job or node, moved and scaled by wheel, drag, keys and buttons. What is in sight is also said
// in text beside the buttons.

const kLeft = window.innerWidth < 640 ? 86 : 150;  // of the plot; the usage chart above keeps the same, so that times stand below each other
const kRight = 10;
const kFoot = 24;
const kLowest = 110;
const kHighest = 480;
const kTop = 6;  // room for a fault's mark above the first row

/// What is in sight. Listeners are told when it changes.
class View {
  constructor(end) {
    this.end = end;
    this.listeners = [];
    this.from = 0;
    this.to = end;
  }
  set(from, to) {
    const span = Math.min(this.end, Math.max(Math.min(this.end, 1e-3), to - from));
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    for (const listener of this.listeners) listener();
  }
  zoom(factor, share = 0.5) {
    const at = this.from + share * (this.to - this.from);
    const span = Math.min(this.end, (this.to - this.from) * factor);
    this.set(at - share * span, at + (1 - share) * span);
  }
  pan(share) {
    const by = share * (this.to - this.from);
    this.set(this.from + by, this.to + by);
  }
  reset() { this.set(0, this.end); }
}

class Timeline {
  constructor(model, view) {
    Object.assign(this, { model, view, top: 0, kind: "jobs", painter: new Painter(), marked: -1 });
    const jobHeight = model.jobRows.length <= 8 ? 32 : 20;
    this.kinds = { jobs: { rows: model.jobRows, heightOf: () => jobHeight },
                   nodes: { rows: model.nodeRows, heightOf: (row) => row.lanes * Math.max(model.nodeRows.length <= 6 ? 10 : 5, 20 / row.lanes) + 6 } };
    for (const kind of Object.values(this.kinds)) {
      let y = kTop;
      kind.offsets = [y, ...kind.rows.map((row) => (y += kind.heightOf(row)))];
    }
    const whole = Math.max(...Object.values(this.kinds).map((kind) => kind.offsets[kind.rows.length]));
    this.height = Math.max(kLowest, Math.min(kHighest, whole + kFoot + 4));
  }
  get rows() { return this.kinds[this.kind].rows; }
  get offsets() { return this.kinds[this.kind].offsets; }
  get plotHeight() { return this.height - kFoot; }
  get lowest() { return Math.max(0, this.offsets[this.rows.length] - this.plotHeight); }

  rowAt(y) {
    let [low, high] = [0, this.rows.length];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.offsets[middle] <= y) low = middle; else high = middle;
    }
    return low;
  }
  parts(row) {
    row.made ??= row.make();
    return row.made;
  }
  scroll(by) {
    const before = this.top;
    this.top = Math.max(0, Math.min(this.top + by, this.lowest));
    this.chart.again();
    return this.top !== before;
  }

  draw(context, width, _, ratio) {
    const { view, painter, plotHeight } = this;
    const plotWidth = Math.max(10, width - kLeft - kRight);
    painter.resize(context, Math.round(plotWidth * ratio), Math.round(plotHeight * ratio));
    painter.setColors(kSpanColors);
    painter.clear();
    const first = this.rowAt(this.top);
    let last = first;
    for (let r = first; r < this.rows.length && this.offsets[r] < this.top + plotHeight; r += 1) {
      this.paintRow(r, ratio);
      last = r;
    }
    painter.show(context, Math.round(kLeft * ratio), 0);
    context.save();
    context.beginPath();
    context.rect(0, 0, width, plotHeight);
    context.clip();
    for (let r = first; r <= last && r < this.rows.length; r += 1) this.labelRow(context, r, width, plotWidth);
    context.restore();
    timeAxis(context, [kLeft, width - kRight], [0, plotHeight], view.from, view.to);
    this.drawScrollbar(context, width);
    this.status.textContent = this.rows.length === 0 ? "" :
      `${moment(view.from)} to ${moment(view.to)}, rows ${show(first + 1)} to ${show(last + 1)} of ${show(this.rows.length)}`;
  }
  paintRow(r, ratio) {
    const row = this.rows[r];
    const { lanes } = this.parts(row);
    const y = this.offsets[r] - this.top;
    const high = this.offsets[r + 1] - this.offsets[r] - (row.lanes > 1 ? 6 : 5);
    const lane = high / row.lanes;
    for (let l = 0; l < row.lanes; l += 1) {
      if (y + (l + 1) * lane < 0 || y + l * lane > this.plotHeight) continue;
      this.painter.lane(lanes[l], this.view.from, this.view.to, (y + l * lane) * ratio, Math.max(1, (lane - (row.lanes > 1 ? 1 : 0)) * ratio));
    }
  }
  labelRow(context, r, width, plotWidth) {
    const row = this.rows[r];
    const { lanes, faults } = this.parts(row);
    const y = this.offsets[r] - this.top;
    const high = this.offsets[r + 1] - this.offsets[r];
    const { from, to } = this.view;
    const scale = plotWidth / (to - from);
    context.fillStyle = css("--grid");
    if (row.lanes > 1) context.fillRect(0, y + high - 3, width, 1);
    if (r === this.marked) {
      context.strokeStyle = css("--accent");
      context.strokeRect(1, y - 1, width - 2, high - 2);
    }
    if (row.lanes === 1) this.nameSpans(context, lanes[0], y, high, scale);
    context.fillStyle = css("--text");
    context.textBaseline = "middle";
    this.fitText(context, row.label, 8, y + (row.lanes > 1 ? Math.min(high, 20) : high - 4) / 2, kLeft - 16);
    if (row.gpuLanes > 1 && high > 34) {
      context.fillStyle = css("--dim");
      this.fitText(context, plural(row.gpuLanes, "GPU"), 8, y + 26, kLeft - 16);
    }
    for (const fault of faults) {
      if (fault.at < from || fault.at > to) continue;
      const x = kLeft + (fault.at - from) * scale;
      context.fillStyle = css("--bad");
      context.strokeStyle = css("--card");
      context.beginPath();
      context.moveTo(x - 5, y - 1);
      context.lineTo(x + 5, y - 1);
      context.lineTo(x, y + 9);
      context.closePath();
      context.fill();
      context.stroke();
    }
  }
  /// Stages that are wide enough carry their name: colour is never the only sign.
  nameSpans(context, spans, y, high, scale) {
    const { from, to } = this.view;
    context.textBaseline = "middle";
    const narrowest = 46 / scale;
    for (let i = spans.from(from), drawn = 0; i < spans.count && spans.a[i] < to && drawn < 40; i += 1) {
      const a = Math.max(from, spans.a[i]);
      const b = Math.min(to, spans.b[i]);
      if (b - a < narrowest) continue;
      const name = kSpanNames[spans.color[i]];
      if (context.measureText(name).width + 10 > (b - a) * scale) continue;
      const [red, green, blue] = this.painter.colors[spans.color[i]];
      context.fillStyle = red * 0.299 + green * 0.587 + blue * 0.114 > 110 ? "#000000" : "#ffffff";
      context.fillText(name, kLeft + (a - from) * scale + 5, y + (high - 5) / 2 + 0.5);
      drawn += 1;
    }
  }
  fitText(context, text, x, y, most) {
    let shown = text.length > 60 ? text.slice(0, 60) : text;
    if (context.measureText(shown).width > most || shown !== text) {
      while (shown.length > 1 && context.measureText(`${shown}…`).width > most) shown = shown.slice(0, -1);
      shown += "…";
    }
    context.fillText(shown, x, y);
  }
  drawScrollbar(context, width) {
    if (this.lowest === 0) return;
    const whole = this.offsets[this.rows.length];
    const high = Math.max(18, (this.plotHeight / whole) * this.plotHeight);
    context.fillStyle = css("--dim");
    context.globalAlpha = 0.5;
    context.fillRect(width - 6, (this.top / this.lowest) * (this.plotHeight - high), 4, high);
    context.globalAlpha = 1;
  }

  /// What is under a point of the canvas, in words.
  textAt(x, y, width) {
    const r = this.rowAt(y + this.top);
    const row = this.rows[r];
    if (!row || y > this.plotHeight || y + this.top > this.offsets[this.rows.length]) return "";
    if (x < kLeft) return row.title;
    const { lanes, faults } = this.parts(row);
    const perPixel = (this.view.to - this.view.from) / Math.max(10, width - kLeft - kRight);
    const t = this.view.from + (x - kLeft) * perPixel;
    const fault = faults.find((f) => Math.abs(f.at - t) < 6 * perPixel);
    if (fault) return faultText(fault);
    const high = this.offsets[r + 1] - this.offsets[r] - (row.lanes > 1 ? 6 : 5);
    const spans = lanes[Math.min(row.lanes - 1, Math.floor(((y + this.top - this.offsets[r]) / high) * row.lanes))];
    const hits = [];
    for (let i = spans.from(t - perPixel); i < spans.count && spans.a[i] <= t + perPixel && hits.length < 5; i += 1) {
      if (spans.b[i] < t - perPixel) continue;
      if (spans.a[i] <= t && t < spans.b[i]) return row.text(spans.source[i], spans.color[i], spans.a[i], spans.b[i]);
      hits.push(i);
    }
    return hits.length > 0 ? row.text(spans.source[hits[0]], spans.color[hits[0]], spans.a[hits[0]], spans.b[hits[0]]) : "";
  }
}

const faultText = (fault) => {
  const after = (at, word) => (missing(at) ? `not ${word}` : `${word} after ${time(at - fault.at)}`);
  return `▼ ${fault.kind} of ${fault.target} at ${moment(fault.at)}\n${after(fault.detected, "detected")}, ${after(fault.recovered, "recovered")}`;
};

const timelineSection = (model, view) => {
  const part = section("Timeline", "Drag or arrow keys move, Ctrl + wheel, + and − zoom, 0 or Home shows everything; hover says what something is.", "timeline");
  if (model.jobRows.length === 0 && model.nodeRows.length === 0) {
    part.append(element("p", "No job was submitted.", "note"));
    return;
  }
  const timeline = new Timeline(model, view);
  const bar = element("div", undefined, "bar");
  const keys = element("div", undefined, "legend");
  timeline.status = element("span", "", "note push");
  timeline.status.id = "timeline-range";
  part.append(bar, keys);
  timeline.chart = canvas(part, timeline.height, "timeline; the tables below say the same in text", (...all) => timeline.draw(...all));
  timeline.chart.node.classList.add("pan");
  timeline.chart.node.id = "timeline-canvas";
  view.listeners.push(() => timeline.chart.again());

  const buttons = {};
  const choose = (kind) => {
    timeline.kind = kind;
    timeline.top = 0;
    timeline.marked = -1;
    for (const [name, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String(name === kind));
    const more = kind === "nodes" ? [["ApplicationMaster", "--am"], ["node down", "--down"]] : [];
    const fault = element("span");
    fault.append(element("b", "▼"), "fault");
    keys.replaceChildren(...legend([...kStages.map(([, name, color]) => [name, color]), ...more]).childNodes, fault);
    timeline.chart.again();
  };
  for (const [kind, name, rows] of [["jobs", "Jobs", model.jobRows], ["nodes", "Nodes and GPUs", model.nodeRows]]) {
    buttons[kind] = element("button", `${name} (${show(rows.length)})`);
    buttons[kind].addEventListener("click", () => choose(kind));
    bar.append(buttons[kind]);
  }
  for (const [name, label, act] of [["+", "zoom in", () => view.zoom(0.5)], ["−", "zoom out", () => view.zoom(2)], ["◀", "earlier", () => view.pan(-0.25)],
                                    ["▶", "later", () => view.pan(0.25)], ["Everything", "show everything", () => { timeline.top = 0; view.reset(); }]]) {
    const button = element("button", name);
    button.setAttribute("aria-label", label);
    button.title = label;
    button.addEventListener("click", act);
    bar.append(button);
  }
  const find = element("input");
  find.type = "search";
  find.placeholder = "find a row";
  find.setAttribute("aria-label", "find a row of the timeline");
  find.addEventListener("input", () => {
    const word = find.value.toLowerCase();
    timeline.marked = word ? timeline.rows.findIndex((row) => row.label.toLowerCase().includes(word)) : -1;
    if (timeline.marked >= 0) timeline.top = Math.max(0, Math.min(timeline.offsets[timeline.marked] - 40, timeline.lowest));
    timeline.chart.again();
  });
  bar.append(find, timeline.status);
  if (model.leftOut > 0) part.append(element("p", `Too much to draw: ${show(model.leftOut)} marks and bars are left out, checkpoints first. The tables have everything.`, "note"));
  listen(timeline, view);
  choose("jobs");
  return timeline;
};

/// Wheel, drag and keys of the timeline's canvas.
const listen = (timeline, view) => {
  const { node } = timeline.chart;
  const shareAt = (x) => Math.min(1, Math.max(0, (x - kLeft) / Math.max(10, node.clientWidth - kLeft - kRight)));
  node.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) view.zoom(event.deltaY > 0 ? 1.25 : 0.8, shareAt(event.offsetX));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan((event.deltaX || event.deltaY) / node.clientWidth);
    else if (!timeline.scroll(event.deltaY)) return;  // at its end the page scrolls on
    event.preventDefault();
  }, { passive: false });
  let grip = null;
  node.addEventListener("pointerdown", (event) => {
    grip = [event.clientX, event.clientY];
    node.setPointerCapture(event.pointerId);
  });
  for (const over of ["pointerup", "pointercancel"]) node.addEventListener(over, () => { grip = null; });
  node.addEventListener("pointermove", (event) => {
    if (!grip) return tooltip(event.clientX, event.clientY, timeline.textAt(event.offsetX, event.offsetY, node.clientWidth));
    noTooltip();
    view.pan(-(event.clientX - grip[0]) / Math.max(10, node.clientWidth - kLeft - kRight));
    timeline.scroll(-(event.clientY - grip[1]));
    grip = [event.clientX, event.clientY];
  });
  node.addEventListener("pointerleave", noTooltip);
  node.addEventListener("dblclick", (event) => view.zoom(0.5, shareAt(event.offsetX)));
  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const everything = () => { timeline.top = 0; view.reset(); };
    const act = { "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2), 0: everything, Home: everything,
                  ArrowLeft: () => view.pan(-0.1), ArrowRight: () => view.pan(0.1), ArrowUp: () => timeline.scroll(-60),
                  ArrowDown: () => timeline.scroll(60), PageUp: () => timeline.scroll(-timeline.plotHeight),
                  PageDown: () => timeline.scroll(timeline.plotHeight) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
};
