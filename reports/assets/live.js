
// The page on a running job. Each second it asks for state.json and for the end of one log beside it, with relative
// addresses, so that it works under any prefix; and shows both as text.

const kPeriod = 1000;
const byId = (id) => document.getElementById(id);
const columns = ["task", "state", "attempt", "epoch", "address", "exit", "heard", "container"];
const headings = ["Task", "State", "Attempt", "Epoch", "Address", "Exit", "Heard of", "Container"];
let ended = false;

const tile = (value, label) => {
  const made = element("div", null, "tile");
  made.append(element("b", value), element("span", label));
  return made;
};

const cell = (row, column) => {
  if (column === "exit") return missing(row.exit) ? row.exit_class : `${row.exit} ${row.exit_class}`;
  if (column === "state") return row.port ? `${row.state}; ${row.port}` : row.state;
  if (column === "heard") return missing(row.heard) ? "–" : `${time(row.heard)} ago`;
  return missing(row[column]) ? "–" : String(row[column]);
};

const showTasks = (tasks) => {
  const body = byId("tasks").tBodies[0];
  body.replaceChildren(...tasks.map((row) => {
    const line = element("tr");
    for (const column of columns) line.append(element("td", cell(row, column), column === "state" ? `state-${row.state}` : ""));
    return line;
  }));
};

const chooseLogs = (tasks) => {
  const select = byId("log-task");
  if (select.options.length === tasks.length) return;
  select.replaceChildren(...tasks.map((row) => element("option", row.task)));
};

const showEvents = (events) => {
  const list = byId("events");
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 20;
  list.replaceChildren(...events.map((event) => {
    const line = element("li");
    line.append(element("time", moment(event.at, 0.01)), element("span", event.text));
    return line;
  }));
  if (atEnd) list.scrollTop = list.scrollHeight;
};

const showVerdict = (state) => {
  const verdict = byId("verdict");
  verdict.textContent = state.status ? state.status.toUpperCase() : state.state;
  verdict.className = state.status === "succeeded" ? "passed" : state.status ? "failed" : "running";
  ended = state.state === "finished";
};

const about = (state) => {
  const line = byId("about");
  const report = element("a", "timeline so far");
  report.href = "report.html";
  line.replaceChildren(element("span", state.diagnostics ? `${state.diagnostics} ` : state.waits_for ? `waits for ${state.waits_for} ` : ""), report);
  const board = state.tasks.find((row) => row.task.startsWith("tensorboard:") && row.state === "running" && row.address);
  if (board && /^[0-9A-Za-z.-]+:[0-9]+$/.test(board.address)) {
    const link = element("a", "TensorBoard");
    link.href = `http://${board.address}/`;
    line.append(" · ", link);
  }
};

const showState = (state) => {
  document.title = `${state.name} · tfyarn`;
  byId("title").textContent = state.name;
  showVerdict(state);
  about(state);
  const running = state.tasks.filter((row) => row.state === "running").length;
  byId("tiles").replaceChildren(tile(`${running}/${state.tasks.length}`, "tasks run"), tile(show(state.epoch), "epoch"),
    tile(show(state.restarts), "restarts"), tile(show(state.am_attempt), "AM attempt"), tile(time(state.seconds), "since the start"));
  showTasks(state.tasks);
  chooseLogs(state.tasks);
  showEvents(state.events);
};

/// On a cluster the logs of a task are on its node, and its NodeManager shows them.
const showLogElsewhere = (row, stream) => {
  const log = byId("log");
  if (!row.logs || !/^http:\/\/[0-9A-Za-z.:_/[\]-]+$/.test(row.logs)) {
    log.textContent = "On the task's node; its address is known once the task runs.";
    return;
  }
  const link = element("a", `${stream} of ${row.task}, attempt ${row.attempt}`);
  link.href = `${row.logs}/${row.task.replace(":", "-")}.attempt-${row.attempt}.${stream}/?start=-65536`;
  link.target = "_blank";
  if (log.firstElementChild?.href === link.href) return;
  log.replaceChildren("On the task's node, as YARN keeps them: ", link);
};

const showLog = async (state) => {
  const task = byId("log-task").value;
  const row = state.tasks.find((one) => one.task === task);
  if (!row || missing(row.attempt)) return;
  const stream = byId("log-stream").value;
  if (state.logs_elsewhere) {
    showLogElsewhere(row, stream);
    return;
  }
  const answer = await fetch(`log?task=${task}&attempt=${row.attempt}&stream=${stream}`);
  const log = byId("log");
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 20;
  log.textContent = answer.ok ? await answer.text() : "";
  if (atEnd) log.scrollTop = log.scrollHeight;
};

const look = async () => {
  try {
    const answer = await fetch("state.json");
    if (!answer.ok) throw new Error(answer.status);
    const state = await answer.json();
    showState(state);
    await showLog(state);
  } catch (_) {
    if (!ended) byId("verdict").textContent = "the run is over, or cannot be reached";
    byId("verdict").classList.add("interrupted");
    return;
  }
  setTimeout(look, kPeriod);
};

byId("tasks").tHead.append(element("tr"));
for (const heading of headings) byId("tasks").tHead.rows[0].append(element("th", heading));
look();
