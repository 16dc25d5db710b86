"use strict";
// Names reach the page only through textContent and SVG text nodes, so that none of them is read as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const unit = data.unit ? ` (${data.unit})` : "";
  const POINTS = 2, SELECTED = 3, ISO = 1; // traces of the chart
  let selected = -1;
  let sorting = { column: 1, up: true };

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children); // strings become text nodes
    return element;
  }

  function draw(tag, attributes = {}, text = null) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== null) element.textContent = text;
    return element;
  }

  function cost(value) {
    if (value === null) return "\u2013";
    const text = value.toFixed(data.decimals);
    return value !== 0 && Number(text) === 0 ? value.toPrecision(Math.max(data.decimals, 1)) : text;
  }

  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  // --- the table of points ---------------------------------------------------------------------

  const columns = [
    ["point", (_, i) => i, String],
    ["misclassification", (p) => p.misclassification, cost],
    ["tests", (p) => p.test, cost],
    ["total", (p) => p.total, cost],
    ...data.others.map((name, k) => [name, (p) => p.others[k], cost]),
    ["leaves", (p) => p.leaves, String],
    ["depth", (p) => p.depth, String],
    ["features", (p) => p.features.length, String],
  ];

  const rows = data.points.map((point, i) => {
    const row = make("tr", { "data-point": i, tabindex: -1, "aria-selected": "false" });
    for (const [, value, show] of columns) row.append(make("td", {}, show(value(point, i))));
    row.title = point.features.length ? `tests ${point.features.join(", ")}` : "no test";
    row.addEventListener("click", () => select(i));
    row.addEventListener("keydown", (event) => moveByKey(event, i));
    return row;
  });

  function sortTable() {
    const [, value] = columns[sorting.column];
    const order = data.points.map((_, i) => i);
    order.sort((a, b) => (value(data.points[a], a) - value(data.points[b], b)) * (sorting.up ? 1 : -1) || a - b);
    byId("points").tBodies[0].replaceChildren(...order.map((i) => rows[i]));
    byId("points").querySelectorAll("th").forEach((head, k) => {
      const here = k === sorting.column;
      head.setAttribute("aria-sort", here ? (sorting.up ? "ascending" : "descending") : "none");
      head.querySelector("span").textContent = here ? (sorting.up ? " \u2191" : " \u2193") : "";
    });
  }

  function moveByKey(event, i) {
    const shown = [...byId("points").tBodies[0].rows];
    const at = shown.indexOf(rows[i]);
    const goal = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1, Enter: at, " ": at }[event.key];
    if (goal === undefined || !shown[goal]) return;
    event.preventDefault();
    select(Number(shown[goal].dataset.point));
    shown[goal].focus();
  }

  function buildTable() {
    columns.forEach(([name], k) => {
      const button = make("button", { type: "button" }, name, make("span", { "aria-hidden": "true" }));
      button.addEventListener("click", () => {
        sorting = { column: k, up: sorting.column === k ? !sorting.up : true };
        sortTable();
      });
      byId("points").tHead.rows[0].append(make("th", { scope: "col" }, button));
    });
    sortTable();
  }

  // --- the chart -------------------------------------------------------------------------------

  const chart = byId("chart");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    const axis = { gridcolor: read("--line"), linecolor: read("--edge"), tickcolor: read("--edge") };
    return {
      layout: {
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { color: read("--ink"), family: style.fontFamily, size: 12 },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: read("--edge"), activecolor: read("--accent") },
        hoverlabel: { bgcolor: read("--card"), bordercolor: read("--edge"), font: { color: read("--ink") }, align: "left" },
        xaxis: { ...data.figure.layout.xaxis, ...axis },
        yaxis: { ...data.figure.layout.yaxis, ...axis },
      },
      traces: {
        "line.color": [read("--accent"), read("--edge"), undefined, undefined],
        "marker.color": [undefined, undefined, read("--accent"), "rgba(0,0,0,0)"],
        "marker.line.color": [undefined, undefined, read("--card"), read("--mark")],
      },
    };
  }

  function paint() {
    const now = colours();
    Plotly.update(chart, now.traces, now.layout);
  }

  async function buildChart() {
    const layout = { ...data.figure.layout, ...colours().layout, autosize: true };
    const config = {
      responsive: true,
      displaylogo: false,
      displayModeBar: "hover",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { filename: "front" },
    };
    await Plotly.newPlot(chart, data.figure.data, layout, config);
    paint();
    chart.on("plotly_click", (event) => {
      const hit = event.points.find((point) => point.curveNumber === POINTS);
      if (hit) select(hit.pointNumber);
    });
    dark.addEventListener("change", paint);
    window.addEventListener("afterprint", () => Plotly.Plots.resize(chart));
    markInChart();
  }

  function markInChart() {
    if (!chart.data) return; // not drawn yet
    const { test, total, misclassification } = data.points[selected];
    const across = chart.data[ISO].x;
    Plotly.restyle(chart, { y: [across.map((x) => total - x)] }, [ISO]);
    Plotly.restyle(chart, { x: [[test]], y: [[misclassification]] }, [SELECTED]);
  }

  // --- the tree --------------------------------------------------------------------------------

  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.documentElement).fontFamily;
  const LINE = 16, PAD = 11, GAP = 12;

  function width(text, font) {
    pen.font = `${font} ${family}`;
    return pen.measureText(text).width;
  }

  function short(text, most = 60) {
    const signs = [...text];
    return signs.length > most ? `${signs.slice(0, most - 1).join("")}\u2026` : text;
  }

  // Breaks a text at spaces into a few lines.
  function lines(text, wide = 30, most = 4) {
    const found = [""];
    for (const word of text.split(" ")) {
      const last = found[found.length - 1];
      if (last && [...last].length + [...word].length >= wide) found.push(word);
      else found[found.length - 1] = last ? `${last} ${word}` : word;
    }
    if (found.length > most) found.splice(most - 1, Infinity, `${found[most - 1]} \u2026`);
    return found.map((line) => short(line));
  }

  // Boxes in columns by depth; leaves one below the other, a split at the middle of its children.
  function layOut(nodes) {
    const boxes = nodes.map((node) => {
      const texts = [short(node.title), ...node.lines.flatMap((line) => lines(line, 36))];
      const wide = Math.max(...texts.map((text, k) => width(text, k ? "12px" : "650 13px")));
      return { texts, w: wide + 2 * PAD, h: texts.length * LINE + 12, depth: 0, x: 0, y: 0, label: lines(node.condition) };
    });
    const columns = [];
    boxes.forEach((box, i) => {
      const parent = boxes[nodes[i].parent];
      box.depth = parent ? parent.depth + 1 : 0;
      const column = (columns[box.depth] ??= { w: 0, gap: 0, x: 0 });
      column.w = Math.max(column.w, box.w);
      const label = Math.max(...box.label.map((line) => width(line, "12px")));
      column.gap = Math.max(column.gap, parent ? label + 52 : 0);
    });
    columns.forEach((column, d) => {
      column.x = (d ? columns[d - 1].x + columns[d - 1].w : 4) + column.gap;
    });
    let bottom = 4;
    boxes.forEach((box, i) => {
      box.x = columns[box.depth].x;
      if (!nodes[i].children.length) {
        box.y = bottom + box.h / 2;
        bottom += box.h + GAP;
      }
    });
    for (let i = nodes.length - 1; i >= 0; i--) { // children come after their parent
      const below = nodes[i].children;
      if (below.length) boxes[i].y = (boxes[below[0]].y + boxes[below[below.length - 1]].y) / 2;
    }
    const last = columns[columns.length - 1];
    return { boxes, width: last.x + last.w + 4, height: bottom };
  }

  function drawEdge(group, from, to) {
    const start = from.x + from.w, turn = start + 30;
    group.append(
      draw("path", { class: "edge", d: `M${start},${from.y} C${turn},${from.y} ${start + 6},${to.y} ${turn + 6},${to.y} H${to.x}` }),
      ...to.label.map((line, k) => draw(
        "text",
        { class: "condition", x: to.x - 8, y: to.y - 5 - 14 * (to.label.length - 1 - k), "text-anchor": "end" },
        line,
      )),
    );
  }

  function drawTree(point) {
    const { nodes } = point;
    const plan = layOut(nodes);
    const svg = draw("svg", {
      viewBox: `0 0 ${plan.width} ${plan.height}`,
      role: "img",
      "aria-label": `Tree with ${point.leaves} leaves; the rules below say the same`,
    });
    plan.boxes.forEach((box, i) => {
      const node = nodes[i];
      const group = draw("g", { class: node.class === null ? "split" : "leaf", "data-node": i });
      group.append(draw("title", {}, [node.full, node.title, ...node.lines].filter(Boolean).join("\n")));
      if (node.class !== null) group.style.setProperty("--color", data.classes[node.class].color);
      if (node.parent >= 0) drawEdge(group, plan.boxes[node.parent], box);
      group.append(draw("rect", { class: "box", x: box.x, y: box.y - box.h / 2, width: box.w, height: box.h, rx: 7 }));
      box.texts.forEach((text, k) => {
        const y = box.y - box.h / 2 + 18 + k * LINE;
        group.append(draw("text", { class: k ? "small" : "name", x: box.x + PAD, y }, text));
      });
      svg.append(group);
    });
    svg.dataset.width = plan.width;
    const drawing = byId("drawing");
    drawing.replaceChildren(svg);
    zoom("fit");
    drawing.scrollLeft = 0;
    drawing.scrollTop = plan.boxes[0].y * Number(svg.dataset.scale) - drawing.clientHeight / 2; // begin at the root
  }

  function zoom(how) {
    const svg = byId("drawing").querySelector("svg");
    const natural = Number(svg.dataset.width);
    const room = byId("drawing").clientWidth - 14;
    const scale = how === "fit"
      ? Math.min(1, Math.max(0.75, room / natural))
      : Math.min(3, Math.max(0.2, Number(svg.dataset.scale) * Number(how)));
    svg.dataset.scale = scale;
    svg.setAttribute("width", natural * scale);
  }

  // Shows the path of a rule in the drawing; null shows all of it again.
  function trace(point, leaf) {
    const svg = byId("drawing").querySelector("svg");
    svg.classList.toggle("traced", leaf !== null);
    const path = new Set();
    for (let i = leaf ?? -1; i >= 0; i = point.nodes[i].parent) path.add(String(i));
    svg.querySelectorAll("g").forEach((group) => group.classList.toggle("on", path.has(group.dataset.node)));
  }

  // --- rules, tests, figures -------------------------------------------------------------------

  function head(table, names, firstText = 1) {
    const cells = names.map((name, k) => make("th", { scope: "col", class: k < firstText ? "text" : "" }, name));
    byId(table).tHead.replaceChildren(make("tr", {}, ...cells));
  }

  function swatch(k) {
    const patch = make("span", { class: "swatch" });
    patch.style.background = data.classes[k].color;
    return patch;
  }

  function showRules(point) {
    byId("rules").tBodies[0].replaceChildren(...point.rules.map((rule) => {
      const row = make("tr", { tabindex: 0 },
        make("td", { class: "text answer" }, swatch(rule.class), data.classes[rule.class].name),
        make("td", { class: "text" }, rule.premise),
        make("td", {}, `${rule.support}`), make("td", {}, percent(rule.share)),
        make("td", {}, cost(rule.misclassification)), make("td", {}, cost(rule.test)));
      for (const kind of ["mouseenter", "focus"]) row.addEventListener(kind, () => trace(point, rule.leaf));
      for (const kind of ["mouseleave", "blur"]) row.addEventListener(kind, () => trace(point, null));
      return row;
    }));
  }

  function showBought(point) {
    const rows = point.bought.map((step) => {
      const bar = make("span", { class: "share", "aria-hidden": "true" });
      bar.style.width = percent(step.share).replace(" ", "");
      return make("tr", {}, make("td", { class: "text" }, step.step, bar), make("td", {}, percent(step.share)), make("td", {}, cost(step.cost)));
    });
    if (!rows.length) rows.push(make("tr", {}, make("td", { class: "text", colspan: 3 }, "none")));
    byId("bought").tBodies[0].replaceChildren(...rows);
    byId("free").textContent = point.free.length ? `Free: ${point.free.join(", ")}` : "";
  }

  function showFigures(point) {
    const figures = [
      [`misclassification${unit}`, cost(point.misclassification)], [`tests${unit}`, cost(point.test)],
      [`total${unit}`, cost(point.total)], ["leaves", point.leaves], ["depth", point.depth],
    ];
    byId("figures").replaceChildren(
      ...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))),
    );
  }

  // --- one selected point ----------------------------------------------------------------------

  function select(index, { quiet = false } = {}) {
    if (index === selected) return;
    if (rows[selected]) {
      rows[selected].tabIndex = -1;
      rows[selected].setAttribute("aria-selected", "false");
    }
    selected = index;
    const point = data.points[index];
    rows[index].tabIndex = 0;
    rows[index].setAttribute("aria-selected", "true");
    keepInView(rows[index]);
    byId("tree-heading").textContent = `Tree of point ${index}`;
    byId("tree").dataset.point = index;
    byId("previous").disabled = index === 0;
    byId("next").disabled = index === data.points.length - 1;
    byId("marks").querySelectorAll("button").forEach((button) => {
      button.setAttribute("aria-pressed", String(Number(button.dataset.point) === index));
    });
    showFigures(point);
    drawTree(point);
    showRules(point);
    showBought(point);
    markInChart();
    if (!quiet) history.replaceState(null, "", `#point=${index}`);
  }

  // Scrolls the table alone: scrollIntoView would move the page as well.
  function keepInView(row) {
    const box = byId("points-scroll");
    const above = row.offsetTop - row.offsetHeight < box.scrollTop; // the heading hides a row's height
    const below = row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight;
    if (above || below) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  function pointOfAddress() {
    const found = /^#point=(\d+)$/.exec(location.hash);
    return found && Number(found[1]) < data.points.length ? Number(found[1]) : null;
  }

  function build() {
    byId("title").textContent = data.title;
    const trees = data.points.length === 1 ? "One tree" : `${data.points.length} trees, none better than another in both costs`;
    byId("lead").textContent = `${trees}. Costs are averages per case${data.unit ? ` in ${data.unit}` : ""}, on the ${data.cases} training cases.`;
    byId("classes").append(...data.classes.map(({ name }, k) => make("li", {}, swatch(k), name)));
    for (const { label, point } of data.marks) {
      const button = make("button", { type: "button", "data-point": point }, label);
      button.addEventListener("click", () => select(point));
      byId("marks").append(button);
    }
    byId("previous").addEventListener("click", () => select(selected - 1));
    byId("next").addEventListener("click", () => select(selected + 1));
    byId("zoom").addEventListener("click", (event) => {
      if (event.target.dataset.zoom) zoom(event.target.dataset.zoom);
    });
    head("rules", ["answer", "if", "cases", "share", "misclass.", "tests"], 2);
    head("bought", ["step", "paid by", "cost per case"]);
    const told = Object.entries(data.info).map(([name, value]) => `${name}: ${value}`);
    byId("footer").textContent = ["Made by cstree", ...told].join(" \u00b7 ");
    window.addEventListener("hashchange", () => {
      const point = pointOfAddress();
      if (point !== null) select(point, { quiet: true });
    });
    buildTable();
    select(pointOfAddress() ?? data.selected, { quiet: true });
    return buildChart();
  }

  build();
})();
