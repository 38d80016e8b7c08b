// What the page's pictures share: a canvas that knows its size, and axes.

const kFont = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/// A canvas in CSS pixels, drawn again (once a frame at most) when its size, the colour scheme or the medium changes; one that
/// is out of sight waits until it is seen.
const canvas = (parent, height, label, draw) => {
  const made = element("canvas");
  made.style.height = `${height}px`;
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", label);
  made.tabIndex = 0;
  parent.append(made);
  const now = () => {
    const ratio = window.devicePixelRatio || 1;
    const width = made.clientWidth;
    if (width === 0) return;
    const wide = Math.round(width * ratio);
    const high = Math.round(height * ratio);
    if (made.width !== wide || made.height !== high) [made.width, made.height] = [wide, high];
    const context = made.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = kFont;
    draw(context, width, height, ratio);
  };
  let waiting = false;
  let seen = true;
  let stale = false;
  const again = () => {
    stale = !seen;
    if (waiting || stale) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; now(); });
  };
  new ResizeObserver(now).observe(made);
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    if (seen && stale) again();
  }).observe(made);
  window.addEventListener("beforeprint", now);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", now);
  return { node: made, again, now };
};

const kSteps = [1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
                172800, 604800, 1209600, 2592000, 7776000, 31536000];
const timeStep = (span, most) => kSteps.find((step) => span / step <= most) ?? span / most;

/// A moment on an axis whose marks are `step` apart: no more of it than tells it from the others.
const tick = (t, step) => {
  if (step < 1) return `${moment(t, step)}`;
  if (step >= 86400 || (t % 86400 === 0 && t > 0)) return `day ${show(round(t / 86400, 6))}`;
  const full = moment(t, step);
  return step >= 60 ? full.slice(0, -3) : full;
};

/// Lines and labels of time below [top, bottom).
const timeAxis = (context, [x0, x1], [top, bottom], from, to) => {
  const step = timeStep(to - from, Math.max(2, (x1 - x0) / 110));
  context.textBaseline = "top";
  context.textAlign = "left";
  for (let i = Math.ceil(from / step); i * step <= to; i += 1) {
    const x = Math.round(x0 + ((i * step - from) / (to - from)) * (x1 - x0));
    context.fillStyle = css("--dim");
    context.globalAlpha = 0.3;
    context.fillRect(x, top, 1, bottom - top + 4);
    context.globalAlpha = 1;
    const label = tick(i * step, step);
    const wide = context.measureText(label).width;
    if (x + wide < x1 + 4) context.fillText(label, x + 3, bottom + 4);
  }
};

/// Numbers from 0 to `most` left of x, with the unit above.
const amountAxis = (context, [x0, x1], [top, bottom], most, unit) => {
  const raw = most / 4;
  const decade = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 4, 5, 8, 10].map((m) => m * decade).find((s) => s >= raw) ?? raw);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let n = 0; n <= most; n += step) {
    const y = Math.round(bottom - (n / most) * (bottom - top));
    context.fillStyle = css("--grid");
    context.fillRect(x0, y, x1 - x0, 1);
    context.fillStyle = css("--dim");
    context.fillText(show(n), x0 - 6, y);
  }
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(unit, 4, 2);
};
