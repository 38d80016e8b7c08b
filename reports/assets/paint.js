// Spans to pixels. A pixel shows the mix of what happened in its time, weighed by how long: however many spans fall into one
// pixel, none is left out and none is made larger than it was. The work for a frame is a few additions for each span in
// sight and a copy for each pixel, so a hundred thousand spans cost no more than a screen full of them.

/// #rgb, #rrggbb or rgb() as three numbers.
const parseColor = (text) => {
  if (text.startsWith("#")) {
    const long = text.length === 4 ? [...text.slice(1)].map((c) => c + c).join("") : text.slice(1);
    return [0, 2, 4].map((i) => parseInt(long.slice(i, i + 2), 16));
  }
  return text.match(/[\d.]+/g).slice(0, 3).map(Number);
};

class Painter {
  /// Sizes in device pixels. The image is kept between frames.
  resize(context, width, height) {
    if (this.image && this.image.width === width && this.image.height === height) return;
    this.image = context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.mix = new Float32Array(width * 4);  // red, green, blue, share of the pixel's time that is covered
  }
  setColors(names) { this.colors = names.map((name) => parseColor(css(name))); }
  clear() { this.pixels.fill(0); }

  /// A lane's spans between `from` and `to` as one line of pixels at [y, y + high).
  lane(spans, from, to, y, high) {
    const { width } = this.image;
    const { mix, colors } = this;
    const { a, b, color, count } = spans;
    mix.fill(0);
    const scale = width / (to - from);
    for (let i = spans.from(from); i < count && a[i] < to; i += 1) {
      if (b[i] <= from) continue;
      const rgb = colors[color[i]];
      const x0 = Math.max(0, (a[i] - from) * scale);
      const x1 = Math.min(width, (b[i] - from) * scale);
      const first = Math.floor(x0);
      const last = Math.min(width - 1, Math.floor(x1));
      for (let x = first; x <= last; x += 1) {
        const share = (x === last ? Math.min(x1, x + 1) : x + 1) - (x === first ? x0 : x);
        const at = x * 4;
        mix[at] += rgb[0] * share;
        mix[at + 1] += rgb[1] * share;
        mix[at + 2] += rgb[2] * share;
        mix[at + 3] += share;
      }
    }
    this.copy(Math.round(y), Math.max(1, Math.round(high)));
  }
  copy(y, high) {
    const { width, height } = this.image;
    const { mix, pixels } = this;
    const top = Math.max(0, y);
    const bottom = Math.min(height, y + high);
    if (top >= bottom) return;
    const start = top * width;
    for (let x = 0; x < width; x += 1) {
      const at = x * 4;
      const covered = mix[at + 3];
      if (covered <= 0) continue;
      // Something short in an empty pixel stays visible.
      const alpha = Math.round(255 * Math.min(1, Math.max(covered, 0.35)));
      pixels[start + x] = (alpha << 24) | (Math.round(mix[at + 2] / covered) << 16) | (Math.round(mix[at + 1] / covered) << 8) | Math.round(mix[at] / covered);
    }
    for (let line = top + 1; line < bottom; line += 1) pixels.copyWithin(line * width, start, start + width);
  }
  show(context, x, y) { context.putImageData(this.image, x, y); }
}
