// Tables of any length: only the rows in sight exist, so that a hundred thousand jobs scroll like ten. Heads sort, a word
// filters. A column is {title, value(row), text(row)?, node(row)?, long?, wrap?, swatch?}: `value` is what sorting compares.

const kRowHeight = 28;
const kRowsAtOnce = 60;
const kRowsInPrint = 2000;

const compareBy = (column, down) => (a, b) => {
  const [x, y] = [column.value(a), column.value(b)];
  if (x === y) return 0;
  if (missing(x)) return 1;
  if (missing(y)) return -1;
  return (x < y ? -1 : 1) * (down ? -1 : 1);
};

/// Numbers stand to the right; a column with one is a column of numbers.
const isNumeric = (column, rows) => {
  const known = rows.find((row) => !missing(column.value(row)));
  return known !== undefined && typeof column.value(known) === "number" && !column.node;
};

const tableRow = (columns, row) => {
  const line = element("tr");
  for (const column of columns) {
    const value = column.value(row);
    const text = column.text ? column.text(row) : show(value);
    const cell = element("td", column.node ? undefined : text,
                         column.wrap ? "wrap" : column.long ? "long" : column.numeric ? "number" : "");
    if (column.long) {
      cell.title = text;
      cell.dir = "auto";
    }
    if (column.node) cell.append(column.node(row));
    line.append(cell);
  }
  return line;
};

const spacer = (rows, columns) => {
  const line = element("tr", undefined, "space");
  const cell = element("td");
  cell.colSpan = columns;
  cell.style.height = `${rows * kRowHeight}px`;
  line.append(cell);
  return line;
};

const table = (parent, label, columns, rows, { find, empty = "Nothing to show.", filters } = {}) => {
  if (rows.length === 0) {
    parent.append(element("p", empty, "note"));
    return;
  }
  for (const column of columns) column.numeric = isNumeric(column, rows);
  const long = rows.length > kRowsAtOnce;
  const made = element("table");
  const head = element("tr");
  const body = element("tbody");
  const count = element("span", "", "note");
  const scroll = element("div", undefined, long ? "scroll tall" : "scroll");
  const state = { order: null, down: false, word: "", filter: null, shown: rows, first: -1, printing: false };
  made.setAttribute("aria-label", label);
  made.setAttribute("aria-rowcount", String(rows.length + 1));
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", label);

  const draw = (again) => {
    const all = state.shown.length;
    const most = state.printing ? kRowsInPrint : long ? kRowsAtOnce : all;
    const first = state.printing ? 0 : Math.max(0, Math.min(Math.floor(scroll.scrollTop / kRowHeight) - 15, all - most));
    if (!again && first === state.first) return;
    state.first = first;
    const lines = state.shown.slice(first, first + most).map((row) => tableRow(columns, row));
    const after = all - first - lines.length;
    body.replaceChildren(...(first > 0 ? [spacer(first, columns.length)] : []), ...lines,
                         ...(after > 0 && !state.printing ? [spacer(after, columns.length)] : []));
    count.textContent = all === rows.length ? plural(all, "row") : `${show(all)} of ${plural(rows.length, "row")}`;
  };
  const choose = () => {
    state.shown = rows.filter((row) => (!state.filter || state.filter(row)) && (!state.word || find(row).toLowerCase().includes(state.word)));
    if (state.order) state.shown.sort(compareBy(state.order, state.down));
    scroll.scrollTop = 0;
    draw(true);
  };
  for (const column of columns) {
    const cell = element("th", undefined, column.numeric ? "number" : "");
    cell.scope = "col";
    if (column.swatch) {
      cell.classList.add("stage");
      cell.style.setProperty("--swatch", `var(${column.swatch})`);
    }
    const button = element("button", column.title);
    button.addEventListener("click", () => {
      state.down = state.order === column ? !state.down : false;
      state.order = column;
      for (const other of head.children) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      choose();
    });
    cell.append(button);
    head.append(cell);
  }
  if (long || filters) {
    const bar = element("div", undefined, "bar");
    if (find) {
      const input = element("input");
      input.type = "search";
      input.placeholder = "find";
      input.setAttribute("aria-label", `find in ${label}`);
      input.addEventListener("input", () => { state.word = input.value.toLowerCase(); choose(); });
      bar.append(input);
    }
    for (const [name, filter] of filters ?? []) {
      const button = element("button", name);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        const on = state.filter === filter;
        for (const other of bar.querySelectorAll("button")) other.setAttribute("aria-pressed", "false");
        button.setAttribute("aria-pressed", String(!on));
        state.filter = on ? null : filter;
        choose();
      });
      bar.append(button);
    }
    bar.append(count);
    parent.append(bar);
  }
  const thead = element("thead");
  thead.append(head);
  made.append(thead, body);
  scroll.append(made);
  scroll.addEventListener("scroll", () => draw(false));
  window.addEventListener("beforeprint", () => { state.printing = true; draw(true); });
  window.addEventListener("afterprint", () => { state.printing = false; draw(true); });
  parent.append(scroll);
  draw(true);
};
