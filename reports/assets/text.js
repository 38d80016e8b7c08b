"use strict";
// Small things that every part of the page uses: elements, numbers and times as text. Whatever comes from a run becomes the
// page's text through textContent or a canvas: it can only ever be text.

const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
};
/// The value of a colour variable, looked up once for each scheme: asking the style at every frame would cost more than drawing.
const kPalette = new Map();
const css = (name) => {
  if (!kPalette.has(name)) kPalette.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return kPalette.get(name);
};
for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", () => kPalette.clear());
const round = (value, digits = 4) => Number(value.toPrecision(digits));
const missing = (value) => value === null || value === undefined;

/// Seconds as people say them: 12.5 s, 3.4 min, 20.8 h, 3.54 d.
const time = (seconds) => {
  if (missing(seconds)) return "–";
  const s = Math.abs(seconds);
  if (s !== 0 && s < 1) return `${round(seconds * 1e3, 3)} ms`;
  if (s < 60) return `${round(seconds, 3)} s`;
  if (s < 3600) return `${round(seconds / 60, 3)} min`;
  if (s < 172800) return `${round(seconds / 3600, 3)} h`;
  return `${round(seconds / 86400, 3)} d`;
};

/// A moment: 1d 02:03:04, with as many digits below the second as `step` needs.
const moment = (seconds, step = 0.001) => {
  const digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step)));
  const unit = 10 ** digits;
  const ticks = Math.round(seconds * unit);
  const whole = Math.floor(ticks / unit);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const below = digits > 0 ? `.${String(ticks % unit).padStart(digits, "0")}` : "";
  const day = Math.floor(whole / 86400);
  const clock = `${two((whole % 86400) / 3600)}:${two((whole % 3600) / 60)}:${two(whole % 60)}${below}`;
  return day > 0 ? `${day}d ${clock}` : clock;
};

const show = (value) => {
  if (missing(value)) return "–";
  if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : round(value, 6).toLocaleString("en", { maximumSignificantDigits: 6 });
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};
const percent = (value) => (missing(value) ? "–" : `${round(value * 100, 3)} %`);
const plural = (count, noun) => `${show(count)} ${noun}${count === 1 ? "" : "s"}`;

/// Whole microseconds: times of a run are, so adding them is exact.
const micros = (seconds) => Math.round(seconds * 1e6);

/// Whole units that sum to the rounded sum of the parts, each less than one unit away from its part (largest remainders).
const apportion = (parts, unit) => {
  const whole = parts.map((part) => Math.floor(part / unit));
  const total = Math.round(parts.reduce((a, b) => a + b, 0) / unit);
  let open = total - whole.reduce((a, b) => a + b, 0);
  const order = parts.map((_, i) => i).sort((a, b) => (parts[b] % unit) - (parts[a] % unit) || a - b);
  for (const i of order) {
    if (open <= 0) break;
    whole[i] += 1;
    open -= 1;
  }
  return { whole, total };
};

const section = (title, note, id) => {
  const made = element("section");
  if (id) made.id = id;
  made.append(element("h2", title));
  if (note) made.append(element("p", note, "note"));
  document.getElementById("main").append(made);
  return made;
};

/// entries: [name, colour variable].
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

const tooltip = (x, y, text) => {
  const tip = document.getElementById("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, window.innerHeight - tip.offsetHeight - 8))}px`;
};
const noTooltip = () => tooltip(0, 0, "");
