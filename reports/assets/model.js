// From the two documents to what the timeline draws: rows of spans. The documents are the run's result and what is derived
// from its events (report); nothing else is read, so the same page can be given fresh ones while a run goes on.

/// Stages of a job in the order of their positions in time_seconds: [key, name, colour].
const kStages = [
  ["queued", "waiting for the AM", "--queued"], ["gang", "waiting for the gang", "--gang"], ["localizing", "localizing", "--localizing"],
  ["registering", "registering", "--registering"], ["running", "running, not training", "--running"], ["training", "training", "--training"],
  ["checkpoint", "checkpoint", "--checkpoint"], ["lost", "lost work", "--lost"], ["restart", "restart", "--restart"],
  ["restore", "restoring", "--restore"], ["ending", "ending", "--ending"]];
const kStageAt = new Map(kStages.map(([key], i) => [key, i]));
const [kTraining, kLost] = [kStageAt.get("training"), kStageAt.get("lost")];
/// Colours of spans besides the stages, and their text.
const kAm = kStages.length;
const kDown = kAm + 1;
const kSpanColors = [...kStages.map(([, , color]) => color), "--am", "--down"];
const kSpanNames = [...kStages.map(([, name]) => name), "ApplicationMaster", "node down"];

/// Spans of one lane: parallel arrays sorted by begin.
class Spans {
  constructor(spans) {
    spans.sort((x, y) => x.a - y.a);
    const n = spans.length;
    this.count = n;
    this.a = new Float64Array(n);
    this.b = new Float64Array(n);
    this.color = new Uint8Array(n);
    this.source = new Array(n);
    this.latest = new Float64Array(n);  // latest end so far: where a search for a time may begin
    let most = -Infinity;
    spans.forEach((span, i) => {
      this.a[i] = span.a;
      this.b[i] = span.b;
      this.color[i] = span.color;
      this.source[i] = span.source;
      most = Math.max(most, span.b);
      this.latest[i] = most;
    });
  }
  /// The first span that may reach `t`.
  from(t) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.latest[middle] < t) low = middle + 1; else high = middle;
    }
    return low;
  }
}

/// Spans {a, b, color, lane, wide, source} by lane: one that is `wide` lanes is in each of them.
const byLane = (spans, lanes) => {
  const lists = Array.from({ length: lanes }, () => []);
  for (const span of spans) {
    for (let lane = span.lane; lane < Math.min(lanes, span.lane + span.wide); lane += 1) lists[lane].push(span);
  }
  return lists.map((list) => new Spans(list));
};

/// Takes the last `work` seconds of training before `at` for lost.
const markLoss = (segments, at, work) => {
  for (let i = segments.length - 1; i >= 0 && work > 1e-9; i -= 1) {
    const segment = segments[i];
    if (segment.color !== kTraining || segment.a >= at) continue;
    const long = Math.min(segment.b, at) - segment.a;
    if (long <= work) {
      segment.color = kLost;
      work -= long;
    } else {
      segments.splice(i + 1, 0, { a: segment.b - work, b: segment.b, color: kLost });
      segment.b -= work;
      work = 0;
    }
  }
};

const makeModel = (result, report) => {
  const timeline = report.timeline ?? { nodes: [], marks: [], losses: [], bars: [], outages: [], left_out: 0 };
  const { jobs } = result;
  const end = Math.max(result.run_seconds ?? result.simulated_seconds, 1e-6);

  const segments = jobs.map(() => []);
  for (const [job, at, phase] of timeline.marks) {
    const list = segments[job];
    if (list.length > 0) list[list.length - 1].b = at;
    if (phase !== "ended") list.push({ a: at, b: jobs[job].finished ?? end, color: kStageAt.get(phase) });
  }
  for (const [job, at, work] of timeline.losses) markLoss(segments[job], at, work);

  const barsOf = new Map(timeline.nodes.map(([node]) => [node, []]));
  const hosts = jobs.map(() => []);  // [node, begin, end] where a job holds containers
  for (const [node, container, job, task, gpus, a, b] of timeline.bars) {
    if (!barsOf.has(node)) barsOf.set(node, []);
    barsOf.get(node).push({ container, job, task, gpus, a, b });
    hosts[job].push([node, a, b]);
  }

  const faultsOf = new Map();  // by node, and by job
  for (const fault of result.faults) {
    const words = new Set((fault.target ?? "").split(/[ ,|]+/));
    for (const word of words) faultsOf.set(word, [...(faultsOf.get(word) ?? []), fault]);
  }
  const faultsOfTask = new Map();  // "JOB TASK", as faults name them
  for (const fault of result.faults) {
    for (const name of (fault.target ?? "").split(/, | \| /)) faultsOfTask.set(name, [...(faultsOfTask.get(name) ?? []), fault]);
  }
  const faultsOfNode = (node, bars) => [...new Set([...(faultsOf.get(node) ?? []), ...bars.flatMap((bar) =>
    (faultsOfTask.get(`${jobs[bar.job].name} ${bar.task}`) ?? []).filter((fault) => bar.a <= fault.at && fault.at <= bar.b))])];
  const faultsOfJob = (index) => {
    const hit = new Set(faultsOf.get(jobs[index].name) ?? []);
    for (const [node, a, b] of hosts[index]) {
      for (const fault of faultsOf.get(node) ?? []) if (a <= fault.at && fault.at <= b) hit.add(fault);
    }
    return [...hit];
  };

  const jobRows = jobs.map((job, index) => ({
    label: job.name, lanes: 1, gpuLanes: 0, title: `${job.name}, ${job.status}`,
    make: () => ({ lanes: [new Spans(segments[index].filter((s) => s.b > s.a))], faults: faultsOfJob(index) }),
    text: (_, color, a, b) => `${job.name}: ${kSpanNames[color]}\n${moment(a)} to ${moment(b)} (${time(b - a)})\n${job.status}` }));

  /// Containers take the lowest GPU lanes that are free, not always neighbours; those without GPUs share lanes below them.
  /// `runs`: [lane, how many from there].
  const place = (bars, gpus) => {
    const freeAt = new Array(gpus).fill(0);
    const shared = [];
    for (const bar of bars.sort((x, y) => x.a - y.a)) {
      if (bar.gpus > 0) {
        bar.runs = [];
        for (let lane = 0, open = bar.gpus; open > 0; lane += 1) {
          if ((freeAt[lane] ?? 0) > bar.a) continue;
          freeAt[lane] = bar.b;
          open -= 1;
          const last = bar.runs[bar.runs.length - 1];
          if (last && last[0] + last[1] === lane) last[1] += 1; else bar.runs.push([lane, 1]);
        }
      } else {
        const found = shared.findIndex((until) => until <= bar.a);
        bar.shared = found < 0 ? shared.length : found;
        shared[bar.shared] = bar.b;
      }
    }
    const most = Math.max(gpus, freeAt.length);
    for (const bar of bars) bar.runs ??= [[most + Math.min(bar.shared, 7), 1]];
    return { gpuLanes: most, lanes: Math.max(1, most + Math.min(8, shared.length)) };
  };
  /// A container shows what its job does meanwhile.
  const barSpans = (bar) => {
    const parts = bar.task === "am" ? [{ a: bar.a, b: bar.b, color: kAm }] : segments[bar.job].filter((s) => s.a < bar.b && s.b > bar.a);
    return parts.flatMap((s) => bar.runs.map(([lane, wide]) => ({ a: Math.max(s.a, bar.a), b: Math.min(s.b, bar.b), color: s.color, lane, wide, source: bar })));
  };
  const gpusOf = new Map(timeline.nodes.map(([node, , gpus]) => [node, gpus]));
  const natural = new Intl.Collator("en", { numeric: true });
  const nodeRows = [...barsOf].sort(([x, xs], [y, ys]) => (gpusOf.get(y) > 0) - (gpusOf.get(x) > 0) || natural.compare(x, y)).map(([node, bars]) => {
    const { lanes, gpuLanes } = place(bars, gpusOf.get(node) ?? 0);
    const outages = timeline.outages.filter(([name]) => name === node);
    return { label: node, lanes, gpuLanes, title: gpuLanes > 0 ? `${node}, ${plural(gpuLanes, "GPU")}` : node,
      make: () => ({
        lanes: byLane([...bars.flatMap(barSpans), ...outages.map(([, a, b]) => ({ a, b, color: kDown, lane: 0, wide: lanes, source: null }))], lanes),
        faults: faultsOfNode(node, bars) }),
      text: (bar, color, a, b) => (bar
        ? `${jobs[bar.job]?.name ?? "?"} ${bar.task || "task"} on ${node}\n${plural(bar.gpus, "GPU")}, ${bar.container}\nheld ${moment(bar.a)} to ${moment(bar.b)} (${time(bar.b - bar.a)})` +
          `\nthe job: ${kSpanNames[color]} ${moment(a)} to ${moment(b)}`
        : `${node} down\n${moment(a)} to ${moment(b)} (${time(b - a)})`) };
  });

  return { end, jobRows, nodeRows, leftOut: timeline.left_out,
           spans: segments.reduce((n, list) => n + list.length, 0), containers: timeline.bars.length };
};
