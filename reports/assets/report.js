// The page's sections, from the verdict down to the scenario, and their start. See model.js for what is read.

const verdictSection = (result) => {
  const name = result.job ?? result.scenario;
  document.title = `${name} – ${result.job === undefined ? "tfsim" : "tfyarn"} report`;
  document.getElementById("title").textContent = name;
  const verdict = document.getElementById("verdict");
  const sign = { passed: "✓", failed: "✗" }[result.verdict] ?? "!";
  verdict.textContent = `${sign} ${result.verdict}${result.reason ? `: ${result.reason}` : ""}`;
  verdict.className = result.verdict;
  const about = result.schema === "tfsim.ensemble/v1"
    ? `${plural(result.runs, "run")} · version ${result.version}`
    : result.job !== undefined
    ? `ran for ${time(result.run_seconds)} · version ${result.version}`
    : `seed ${result.seed} · ${time(result.simulated_seconds)} simulated in ${time(result.wall_seconds)} · digest ${result.digest} · version ${result.version}`;
  document.getElementById("about").textContent = about;
};

const tiles = (result) => {
  const ended = { SUCCEEDED: 0, FAILED: 0, KILLED: 0, UNFINISHED: 0 };
  for (const job of result.jobs) ended[job.status] += 1;
  const m = result.metrics;
  const grid = element("div", undefined, "tiles");
  grid.id = "tiles";
  for (const [id, name, value] of [
    ["jobs", result.jobs.length === 1 ? "job" : "jobs", show(result.jobs.length)], ["succeeded", "succeeded", show(ended.SUCCEEDED)],
    ["failed", "failed or killed", show(ended.FAILED + ended.KILLED)], ["unfinished", "unfinished", show(ended.UNFINISHED)],
    ["utilization", "of the GPU time held", percent(m.gpu_utilization)], ["goodput", "of that, useful training", percent(m.goodput)],
    ["jct", "median completion time", time(m.jct_p50_seconds)], ["start", "mean wait until start", time(m.start_wait_mean_seconds)],
    ["faults", result.faults.length === 1 ? "fault" : "faults", show(result.faults.length + (result.faults_left_out ?? 0))]]) {
    const tile = element("div", undefined, "tile");
    const number = element("b", value);
    number.id = `tile-${id}`;
    tile.append(number, element("span", name));
    grid.append(tile);
  }
  document.getElementById("main").append(grid);
};

const checks = (result) => {
  if (result.job !== undefined) return;  // A real run has neither expectations nor invariants.
  const part = section("Checks", undefined, "checks");
  const expectations = result.expectations ?? [];
  const sorted = [...expectations].sort((a, b) => a.passed - b.passed);
  const list = element("ul", undefined, "checks");
  for (const expectation of sorted) {
    const item = element("li");
    item.append(element("span", expectation.passed ? "✓ held" : "✗ NOT held", expectation.passed ? "ok" : "broken"), " ",
                element("code", expectation.text), ` – got ${expectation.got}`);
    list.append(item);
  }
  part.append(expectations.length > 0 ? list : element("p", "The scenario expects nothing but that its jobs succeed.", "note"));
  if (!result.invariants) return;
  const broken = result.invariants.filter((i) => i.violations > 0);
  const details = element("details");
  details.open = broken.length > 0;
  const checked = result.invariants.reduce((n, i) => n + i.checked, 0);
  details.append(element("summary", `${broken.length === 0 ? "✓ None" : `✗ ${show(broken.length)}`} of ${plural(result.invariants.length, "invariant")} was broken in ${plural(checked, "check")}`));
  table(details, "invariants", [
    { title: "invariant", value: (i) => i.name },
    { title: "checked", value: (i) => i.checked },
    { title: "violations", value: (i) => i.violations },
    { title: "first", value: (i) => (i.violations > 0 ? `${moment(i.first_at)} ${i.first_detail}` : i.off_because ? `off: ${i.off_because}` : ""), wrap: true }],
    [...result.invariants].sort((a, b) => b.violations - a.violations));
  part.append(details);
};

const ensembleSections = (result) => {
  checks(result);
  const names = ["count", "mean", "sd", "min", "p50", "p99", "max"];
  table(section("Metrics over all runs"), "metrics over all runs",
        [{ title: "metric", value: ([name]) => name }, ...names.map((n) => ({ title: n, value: ([, m]) => m[n] }))],
        Object.entries(result.metrics ?? {}), { empty: "No run, no metric." });
  table(section("Failed runs"), "failed runs", [
    { title: "seed", value: (f) => f.seed }, { title: "why", value: (f) => f.reason, wrap: true },
    { title: "replay", value: (f) => f.replay, node: (f) => element("code", f.replay), wrap: true }], result.failed ?? [], { empty: "None." });
};

// ------------------------------------------------------------------ use of the cluster over time

const kUses = [["training", "useful: training", "--training"], ["overhead", "launching, checkpoint, restart", "--overhead"],
               ["incomplete", "held by incomplete gangs", "--incomplete"], ["free", "free", "--free"], ["down", "down", "--down"]];

const usageSection = (usage, model, view) => {
  const unit = usage.unit === "gpus" ? "GPUs" : "vcores";
  const part = section(`${unit} over time`, "What the capacity of all nodes was used for; it follows the timeline's zoom.", "usage");
  const { points, bucket_seconds: width } = usage;
  if (points.length === 0) return part.append(element("p", "Nothing ran.", "note"));
  const covered = (i) => Math.min(width, model.end - i * width);
  const sums = kUses.map((_, use) => points.reduce((sum, point, i) => sum + point[use] * covered(i), 0));
  const whole = sums.reduce((a, b) => a + b, 0);
  const most = Math.max(1, ...points.map((p) => p.reduce((a, b) => a + b, 0)));
  part.append(legend(kUses.map(([, name, color]) => [name, color])));
  const [top, high] = [18, 230];
  const bottom = high - kFoot;
  let cursor = null;
  const at = (t) => Math.max(0, Math.min(points.length - 1, Math.floor(t / width)));
  const words = (i) => `${moment(i * width)} to ${moment(Math.min(model.end, (i + 1) * width))}\n` +
    kUses.map(([, name], use) => `${name}: ${show(round(points[i][use], 4))} ${unit}`).join("\n");
  const chart = canvas(part, high, `stacked areas: ${unit} by use over time; the table below has the sums`, (context, w) => {
    const [x0, x1] = [kLeft, w - kRight];
    amountAxis(context, [x0, x1], [top, bottom], most, unit);
    const perPixel = (view.to - view.from) / Math.max(1, x1 - x0);
    // Heights of the stack at every pixel; drawn from the whole down, so that each area lies on the ones above it.
    const heights = kUses.map(() => new Float64Array(Math.max(1, Math.ceil(x1 - x0))));
    for (let x = 0; x < heights[0].length; x += 1) {
      const [from, to] = [at(view.from + x * perPixel), at(view.from + (x + 1) * perPixel)];
      let sum = 0;
      for (let use = 0; use < kUses.length; use += 1) {
        for (let i = from; i <= to; i += 1) sum += points[i][use];
        heights[use][x] = (sum / (to - from + 1) / most) * (bottom - top);
      }
    }
    for (let use = kUses.length - 1; use >= 0; use -= 1) {
      context.fillStyle = css(kUses[use][2]);
      context.beginPath();
      context.moveTo(x0, bottom);
      heights[use].forEach((tall, x) => {
        context.lineTo(x0 + x, bottom - tall);
        context.lineTo(Math.min(x1, x0 + x + 1), bottom - tall);
      });
      context.lineTo(x1, bottom);
      context.fill();
    }
    timeAxis(context, [x0, x1], [top, bottom], view.from, view.to);
    if (cursor === null) return;
    context.fillStyle = css("--text");
    context.fillRect(x0 + (cursor * width + covered(cursor) / 2 - view.from) / perPixel, top, 1, bottom - top);
  });
  view.listeners.push(chart.again);
  const point = (i, x, y) => {
    cursor = i;
    chart.again();
    tooltip(x, y, words(i));
  };
  chart.node.addEventListener("mousemove", (event) => {
    const share = (event.offsetX - kLeft) / (chart.node.clientWidth - kLeft - kRight);
    if (share < 0 || share > 1) return noTooltip();
    point(at(view.from + share * (view.to - view.from)), event.clientX, event.clientY);
  });
  const leave = () => { cursor = null; chart.again(); noTooltip(); };
  chart.node.addEventListener("mouseleave", leave);
  chart.node.addEventListener("blur", leave);
  chart.node.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (!step) return;
    event.preventDefault();
    const box = chart.node.getBoundingClientRect();
    const i = Math.max(0, Math.min(points.length - 1, (cursor ?? at(view.from)) + step));
    point(i, box.left + kLeft, box.top + top);
  });
  const hours = usage.unit === "gpus" ? "GPU-hours" : "vcore-hours";
  table(part, `${hours} by use`, [
    { title: "use", value: ([name]) => name }, { title: hours, value: ([, sum]) => sum / 3600, text: ([, sum]) => (sum / 3600).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) },
    { title: "share", value: ([, sum]) => sum / whole, text: ([, sum]) => `${((100 * sum) / whole).toFixed(2)} %` }],
    kUses.map(([, name], i) => [name, sums[i]]));
};

// ------------------------------------------------------------------ distributions

const kHistogramMetric = { "job completion time": "jct", "queue wait": "queue_wait", "gang wait": "gang_wait", "start wait": "start_wait" };
const kHistogramNote = { "job completion time": "submission to end", "queue wait": "submission to the AM's registration",
                         "gang wait": "the AM's registration to the first complete gang", "start wait": "submission to the first start" };
const kHistogramOrder = ["queue wait", "gang wait", "start wait", "job completion time"];

const histogram = (holder, { name, edges, counts }, metrics) => {
  const total = counts.reduce((a, b) => a + b, 0);
  const key = kHistogramMetric[name];
  holder.append(element("h3", `${name} of ${plural(total, "job")}`));
  const figures = ["mean", "p50", "p90", "p99", "max"].map((q) => `${q} ${time(metrics[`${key}_${q}_seconds`])}`).join(" · ");
  holder.append(element("p", `${kHistogramNote[name]} · ${figures}`, "note"));
  // What is below the first job that waited at all is one bucket: the edges begin at a millisecond.
  const firstUsed = Math.max(1, counts.findIndex((count, i) => i > 0 && count > 0));
  const buckets = [{ from: 0, to: edges[firstUsed], count: counts.slice(0, firstUsed).reduce((a, b) => a + b, 0) }];
  for (let i = firstUsed; i < counts.length; i += 1) buckets.push({ from: edges[i], to: edges[i + 1], count: counts[i] });
  while (buckets.length > 1 && buckets[buckets.length - 1].count === 0) buckets.pop();
  const most = Math.max(1, ...buckets.map((b) => b.count));
  const [left, top] = [46, 18];
  const chart = canvas(holder, 170, `histogram of ${name}`, (context, w, h) => {
    const bottom = h - 22;
    const step = (w - left - 14) / buckets.length;
    amountAxis(context, [left, w - 14], [top, bottom], most, "jobs");
    buckets.forEach((bucket, i) => {
      const high = (bucket.count / most) * (bottom - top);
      context.fillStyle = css("--accent");
      context.fillRect(left + i * step + 0.5, bottom - high, Math.max(1, step - 1.5), high);
    });
    context.fillStyle = css("--dim");
    context.textBaseline = "top";
    context.textAlign = "center";
    const every = Math.ceil(62 / step);
    for (let i = 1; i < buckets.length; i += every) context.fillText(time(buckets[i].from), left + i * step, bottom + 5);
    context.textAlign = "left";
  });
  chart.node.addEventListener("mousemove", (event) => {
    const bucket = buckets[Math.floor((event.offsetX - left) / ((chart.node.clientWidth - left - 14) / buckets.length))];
    tooltip(event.clientX, event.clientY, bucket ? `${time(bucket.from)} to ${missing(bucket.to) ? "more" : time(bucket.to)}: ${plural(bucket.count, "job")}` : "");
  });
  chart.node.addEventListener("mouseleave", noTooltip);
};

const waitSection = (histograms, metrics) => {
  const part = section("Waiting", "How many jobs waited how long; the scale of time grows in steps of 1, 2 and 5.", "waiting");
  const used = histograms.filter((h) => h.counts.some((c) => c > 0));
  if (used.length === 0) return part.append(element("p", "No job got so far.", "note"));
  const charts = element("div", undefined, "charts");
  part.append(charts);
  used.sort((a, b) => kHistogramOrder.indexOf(a.name) - kHistogramOrder.indexOf(b.name));
  for (const one of used) {
    const holder = element("div");
    charts.append(holder);
    histogram(holder, one, metrics);
  }
};

// ------------------------------------------------------------------ jobs

const statusColumn = { title: "status", value: (j) => j.status,
                       node: (j) => element("span", j.status, j.status === "SUCCEEDED" ? "ok" : j.status === "UNFINISHED" ? "" : "broken") };
const jobColumn = { title: "job", value: (j) => j.name, long: true };

const splitBar = (parts) => {
  const made = element("div", undefined, "split");
  const whole = parts.reduce((sum, [, , value]) => sum + value, 0) || 1;
  made.title = parts.filter(([, , value]) => value > 0).map(([name, , value]) => `${name} ${percent(value / whole)}`).join(", ");
  for (const [, color, value] of parts) {
    const piece = element("i");
    piece.style.width = `${(100 * value) / whole}%`;
    piece.style.background = `var(${color})`;
    made.append(piece);
  }
  return made;
};

/// Columns for parts in whole units that sum to their total: row by row, to the last digit shown.
const partColumns = (jobs, parts, partOf, totalTitle) => {
  const exact = new Map(jobs.map((job) => [job, parts.map(([key]) => micros(partOf(job)[key] ?? 0))]));
  let longest = 0;
  for (const list of exact.values()) longest = Math.max(longest, list.reduce((a, b) => a + b, 0));
  const coarse = longest >= 1e10;
  const unit = coarse ? 1e6 : 1e3;
  const text = (units) => (coarse ? units.toLocaleString("en") : (units / 1000).toLocaleString("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 }));
  const whole = new Map();
  const of = (job) => {
    if (!whole.has(job)) whole.set(job, apportion(exact.get(job), unit));
    return whole.get(job);
  };
  return [
    { title: totalTitle, value: (j) => of(j).total, text: (j) => text(of(j).total) },
    { title: "", value: (j) => exact.get(j)[0], node: (j) => splitBar(parts.map(([, name, color], i) => [name, color, exact.get(j)[i]])) },
    ...parts.map(([, name, color], i) => ({ title: name, value: (j) => of(j).whole[i], text: (j) => text(of(j).whole[i]), swatch: color }))];
};

const kGpuParts = [["useful", "useful training", "--training"], ["checkpoint", "checkpoint", "--checkpoint"], ["lost", "lost work", "--lost"],
                   ["recovery", "restart, restoring", "--restart"], ["waiting", "waiting, launching, ending", "--queued"]];

const kTabs = [
  ["time", "Time, in seconds", "Where each job's time went from its submission to its end: the parts add up to the total."],
  ["gpu", "GPU time, in GPU-seconds", "Where the GPU time went that each job's containers held: the parts add up to the total."],
  ["detail", "What happened", "Waits: submission to the AM's registration, from there to the first complete gang, submission to the start."]];
const jobTabs = {
  time: (jobs) => [jobColumn, statusColumn, ...partColumns(jobs, kStages, (j) => j.time_seconds, "total s")],
  gpu: (jobs) => [jobColumn, statusColumn, ...partColumns(jobs, kGpuParts, (j) => j.gpu_seconds, "total GPU-s")],
  detail: () => [
    jobColumn, statusColumn, { title: "what happened", value: (j) => j.diagnostics, long: true }, { title: "submitted", value: (j) => j.submitted, text: (j) => moment(j.submitted, 1) },
    { title: "AM wait", value: (j) => j.queue_wait_seconds, text: (j) => time(j.queue_wait_seconds) },
    { title: "gang wait", value: (j) => j.gang_wait_seconds, text: (j) => time(j.gang_wait_seconds) },
    { title: "start wait", value: (j) => j.start_wait_seconds, text: (j) => time(j.start_wait_seconds) },
    { title: "took", value: (j) => j.jct_seconds, text: (j) => time(j.jct_seconds) }, { title: "GPUs", value: (j) => j.gpus },
    { title: "tasks", value: (j) => j.task_count }, { title: "containers", value: (j) => j.containers }, { title: "epochs", value: (j) => j.epochs },
    { title: "restarts", value: (j) => j.restarts.task + j.restarts.gang + j.restarts.job }, { title: "AM attempts", value: (j) => j.am_attempts },
    { title: "lost work", value: (j) => j.lost_work_seconds, text: (j) => time(j.lost_work_seconds) },
    { title: "queue", value: (j) => j.queue }, { title: "application", value: (j) => j.application_id }] };

const jobsSection = (jobs) => {
  const part = section("Jobs", undefined, "jobs");
  part.classList.add("long");
  if (jobs.length === 0) return part.append(element("p", "No job was submitted.", "note"));
  const bar = element("div", undefined, "bar");
  const note = element("p", "", "note");
  const holder = element("div");
  part.append(bar, note, holder);
  const filters = ["SUCCEEDED", "FAILED", "KILLED", "UNFINISHED"].map((status) => [status, jobs.filter((j) => j.status === status).length])
    .filter(([, count]) => count > 0 && count < jobs.length).map(([status, count]) => [`${status} (${show(count)})`, (j) => j.status === status]);
  const choose = (key) => {
    for (const button of bar.children) button.setAttribute("aria-pressed", String(button.dataset.tab === key));
    note.textContent = kTabs.find(([k]) => k === key)[2];
    holder.replaceChildren();
    table(holder, "jobs", jobTabs[key](jobs), jobs, { find: (j) => `${j.name} ${j.status} ${j.queue} ${j.diagnostics}`, filters: filters.length > 0 ? filters : undefined });
  };
  for (const [key, name] of kTabs) {
    const button = element("button", name);
    button.dataset.tab = key;
    button.addEventListener("click", () => choose(key));
    bar.append(button);
  }
  choose("time");
};

const attemptsSection = (jobs) => {
  const again = jobs.filter((j) => j.tasks && j.tasks.some((t) => t.attempts.length > 1));
  if (again.length === 0) return;
  const rows = again.flatMap((j) => j.tasks.flatMap((t) => t.attempts.map((a) => ({ job: j.name, task: t.task, ...a }))));
  const part = section("Task attempts", "Of jobs in which some task ran more than once.", "attempts");
  part.classList.add("long");
  table(part, "task attempts", [
    { title: "job", value: (r) => r.job, long: true }, { title: "task", value: (r) => r.task }, { title: "attempt", value: (r) => r.attempt },
    { title: "epoch", value: (r) => r.epoch }, { title: "node", value: (r) => r.node, long: true },
    { title: "started", value: (r) => r.started, text: (r) => (missing(r.started) ? "–" : moment(r.started)) },
    { title: "ended", value: (r) => r.finished, text: (r) => (missing(r.finished) ? "–" : moment(r.finished)) }, { title: "exit", value: (r) => r.exit },
    { title: "class", value: (r) => r.exit_class }, { title: "diagnostics", value: (r) => [r.port, r.diagnostics].filter(Boolean).join("; "), long: true }],
    rows, { find: (r) => `${r.job} ${r.task} ${r.node} ${r.exit_class}` });
};

const faultsSection = (result) => {
  const after = (f, what) => (missing(f[what]) ? null : (micros(f[what]) - micros(f.at)) / 1e6);
  const seconds = (value) => (missing(value) ? "–" : value.toLocaleString("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 }));
  const more = result.faults_left_out > 0 ? ` ${plural(result.faults_left_out, "further fault")} left out.` : "";
  const part = section("Faults", `Noticed: an ApplicationMaster recorded the first victim. Recovered: every job it hit was running again, or had ended.${more}`, "faults");
  part.classList.add("long");
  table(part, "faults", [
    { title: "fault", value: (f) => `${f.index}.${f.instance}` }, { title: "kind", value: (f) => f.kind }, { title: "target", value: (f) => f.target, long: true },
    { title: "began", value: (f) => f.at, text: (f) => moment(f.at) }, { title: "lasted", value: (f) => after(f, "ended"), text: (f) => time(after(f, "ended")) },
    { title: "detected after, s", value: (f) => after(f, "detected"), text: (f) => seconds(after(f, "detected")) },
    { title: "recovered after, s", value: (f) => after(f, "recovered"), text: (f) => seconds(after(f, "recovered")) }],
    result.faults, { find: (f) => `${f.kind} ${f.target}`, empty: "No fault happened." });
};

const lastSections = (result, report) => {
  if (result.metrics && result.jobs) {
    const details = element("details");
    details.append(element("summary", "show all"));
    table(details, "metrics", [{ title: "metric", value: ([name]) => name }, { title: "value", value: ([, value]) => value }], Object.entries(result.metrics));
    section("Metrics", undefined, "metrics").append(details);
  }
  if (!report.scenario_yaml) return;
  const text = element("pre", report.scenario_yaml);
  text.tabIndex = 0;
  const details = element("details");
  details.append(element("summary", "show"), text);
  const real = result.job !== undefined;
  section(real ? "Job" : "Scenario", real ? "As it ran." : "As it ran: what it includes and what --set changed are merged.", "scenario").append(details);
};

/// Draws everything from the two documents.
const start = (result, report) => {
  verdictSection(result);
  if (result.schema === "tfsim.ensemble/v1") {
    ensembleSections(result);
    lastSections(result, report);
    return undefined;
  }
  const model = makeModel(result, report);
  const view = new View(model.end);
  tiles(result);
  checks(result);
  if (report.usage) usageSection(report.usage, model, view);
  const timeline = timelineSection(model, view);
  waitSection(report.histograms ?? [], result.metrics);
  jobsSection(result.jobs);
  faultsSection(result);
  attemptsSection(result.jobs);
  lastSections(result, report);
  return { model, view, timeline };
};

const read = (id) => JSON.parse(document.getElementById(id).textContent);
/// What is on the page, for a developer with a debugger, and for the measurement of its frames.
const tfsimReport = start(read("result"), read("report"));
