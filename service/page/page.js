// The page at /: data in, pictures and numbers out. Everything is computed by the service; nothing is kept.
"use strict";

const $ = (id) => document.getElementById(id);
const page = document.documentElement.dataset;
const policy = window.trustedTypes?.createPolicy("rocpr-picture", { createHTML: (text) => text });
const FIELDS = ["scores", "labels", "positive_label", "weights"];
const TYPES = { parquet: "application/vnd.apache.parquet", arrow: "application/vnd.apache.arrow.file", feather: "application/vnd.apache.arrow.file" };
const LEFT = 50, TOP = 28, SIDE = 360; // where a plane lies in a picture
const POINTS = [["f_measure", 0.5], ["recall_at_precision", 0.8], ["recall_at_precision", 0.9], ["recall_at_precision", 0.95],
  ["precision_at_recall", 0.8], ["precision_at_recall", 0.9], ["precision_at_recall", 0.95],
  ["tpr_at_fpr", 0.01], ["tpr_at_fpr", 0.05], ["tpr_at_fpr", 0.1]];
const METRICS = { roc: "ROC area", pr: "PR area", average_precision: "Average precision", recall: "Recall", precision: "Precision", fpr: "False positive rate" };
const AREAS = ["roc", "pr", "average_precision"];

const state = { data: null, columns: null, answers: {}, model: null, row: 0, run: 0, rules: [], request: null };

// Elements

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function option(value, text = value) {
  return element("option", { value, textContent: text });
}

const digits = (value) => (value == null ? "none" : Number(value.toPrecision(4)).toString());
const ends = (interval) => (interval ? `${digits(interval.lower)} to ${digits(interval.upper)}` : "");

function draw(place, text) {
  const picture = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "image/svg+xml").documentElement;
  place.replaceChildren(document.importNode(picture, true));
}

// Requests

class Refused extends Error {
  constructor(problem) {
    super(problem.detail || problem.title);
    this.errors = problem.errors || [];
    this.status = problem.status;
  }
}

function ask(path, query, data, type, watched = false) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
    request.open("POST", `${path}?${search}`);
    request.setRequestHeader("Content-Type", type);
    if ($("key").value) request.setRequestHeader("Authorization", `Bearer ${$("key").value}`);
    if (watched) {
      state.request = request;
      request.upload.onprogress = (event) => { $("progress").value = event.loaded / event.total; };
      request.upload.onload = () => $("progress").removeAttribute("value");
    }
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { answer = { title: `The server answered ${request.status}.` }; }
      if (request.status === 200) resolve(answer);
      else reject(new Refused({ ...answer, status: request.status }));
    };
    request.onerror = () => reject(new Refused({ title: "The server cannot be reached." }));
    request.onabort = () => reject(new Refused({ title: "Cancelled." }));
    request.send(data);
  });
}

const table = (path, query, watched) => ask(path, { ...state.data.format, ...query }, state.data.body, state.data.type, watched);
const json = (path, document_) => ask(path, {}, JSON.stringify(document_), "application/json");

function columns() {
  const chosen = { labels: $("labels").value };
  if ($("positive_label").value) chosen.positive_label = JSON.stringify(typed($("positive_label").value));
  if ($("weights").value) chosen.weights = $("weights").value;
  if ($("lower_is_positive").checked) chosen.lower_is_positive = "true";
  return chosen;
}

const models = () => [...$("scores").querySelectorAll(":checked")].map((box) => box.value);

function typed(text) {
  const { name, values } = state.columns;
  return values[name.indexOf($("labels").value)].find((value) => String(value) === text) ?? text;
}

function tell(error) {
  for (const name of [...FIELDS, "rules"]) $(`${name}-problem`).textContent = "";
  const rest = [];
  for (const each of error?.errors || []) {
    const field = each.pointer.split("/")[1];
    if (FIELDS.includes(field) && !$("columns").hidden) $(`${field}-problem`).textContent = each.detail;
    else rest.push(each.detail);
  }
  $("problem").textContent = error ? (error.errors?.length ? rest.join(" ") : error.message) : "";
  if (error?.status === 401) {
    $("key-field").hidden = false;
    $("problem").textContent = "This server needs an API key.";
  }
}

async function busy(work) {
  const run = ++state.run;
  state.request?.abort();
  $("progress").removeAttribute("value");
  $("uploading").hidden = false;
  try {
    tell(null);
    await work(() => run === state.run);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (run === state.run) { tell(error); $("results").hidden = true; }
  } finally {
    if (run === state.run) { $("uploading").hidden = true; state.request = null; }
  }
}

// Data

function sample() {
  let seed = 7;
  const uniform = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const score = (value) => (1 / (1 + Math.exp(-value))).toFixed(4);
  let text = "fraud,current,candidate\n";
  for (let row = 0; row < 600; row++) {
    const fraud = row % 5 === 0 ? 1 : 0, shared = normal();
    text += `${fraud},${score(1.5 * fraud - 1 + 0.8 * shared + 0.6 * normal())},${score(1.9 * fraud - 1 + 0.8 * shared + 0.6 * normal())}\n`;
  }
  return text;
}

function formatOf(text) {
  const [head] = text.split(/\r?\n/, 1);
  const delimiters = { semicolon: ";", tab: "\t", pipe: "|" };
  const delimiter = Object.keys(delimiters).find((name) => head.includes(delimiters[name]) && !head.includes(","));
  if (!delimiter) return {};
  return /(^|[;\t|\n])-?\d*,\d+/.test(text.slice(head.length)) ? { delimiter, decimal: "comma" } : { delimiter };
}

async function take(body, name) {
  if (body.size > page.limit) {
    tell(new Refused({ title: `${name} is ${size(body.size)}; this server takes up to ${size(page.limit)}.` }));
    return;
  }
  const type = TYPES[name.split(".").pop().toLowerCase()] || "text/csv";
  state.data = { body, name, type, format: type === "text/csv" ? formatOf(await body.slice(0, 65536).text()) : {} };
  $("source").textContent = `${name}, ${size(body.size)}`;
  await busy(async (current) => {
    const answer = await table("/v1/columns", {}, true);
    if (!current()) return;
    state.columns = answer.columns;
    $("source").textContent += `, ${answer.rows.toLocaleString("en")} rows`;
    choose(answer.columns);
    await evaluate(current);
  });
}

const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1048576).toFixed(0)} MiB`);

function choose({ name, type, values, more }) {
  const few = (at) => !more[at] && values[at].length === 2;
  const rank = (at) => (/^(y|label|labels|target|class|truth|y_?true|outcome|actual)$/i.test(name[at]) ? 0 : few(at) ? 1 : 9);
  const places = name.map((_, at) => at);
  const label = places.reduce((best, at) => (rank(at) < rank(best) ? at : best), 0);
  const numbers = places.filter((at) => type[at] === "number" && at !== label);
  const weight = numbers.find((at) => /^(w|weights?|sample_?weights?)$/i.test(name[at]));
  const scores = numbers.filter((at) => at !== weight);
  const named = scores.filter((at) => /scor|prob|pred|model|logit/i.test(name[at]));
  const varied = scores.filter((at) => !few(at) && !/^(id|index|row|unnamed.*|.*_id|)$/i.test(name[at]));
  const chosen = (named.length ? named : varied.length ? varied : scores).slice(0, 8);
  $("labels").replaceChildren(...name.map((each) => option(each)));
  $("labels").value = name[label];
  $("weights").replaceChildren(option("", "none"), ...numbers.map((at) => option(name[at])));
  $("weights").value = weight === undefined ? "" : name[weight];
  $("lower_is_positive").checked = false;
  $("scores").replaceChildren(...scores.map((at) => element("label", {},
    element("input", { type: "checkbox", value: name[at], checked: chosen.includes(at) }), ` ${name[at]}`)));
  $("columns").hidden = false;
  offerPositive();
}

function offerPositive() {
  const { name, values } = state.columns;
  const found = values[name.indexOf($("labels").value)].map(String);
  const plain = found.every((each) => ["0", "1", "-1", "true", "false"].includes(each.toLowerCase()));
  $("positive_label").replaceChildren(...(plain ? [option("", "1 or true")] : []), ...found.map((each) => option(each)));
  const likely = found.find((each) => /^(yes|y|pos|positive|true|t|spam|fraud|bad|malignant|churn|case|sick|event)/i.test(each));
  $("positive_label").value = plain ? "" : likely ?? found[0] ?? "";
}

// One model

async function evaluate(current) {
  const chosen = models();
  if (!chosen.length) throw new Refused({ errors: [{ pointer: "/scores", detail: "Choose a column of scores." }] });
  state.answers = {};
  if (!chosen.includes(state.model)) state.model = chosen.at(-1);
  $("models").replaceChildren($("models").firstElementChild, ...(chosen.length > 1 ? chosen : []).map((each) => element("label", {},
    element("input", { type: "radio", name: "model", value: each, checked: each === state.model }), ` ${each}`)));
  $("baseline").replaceChildren(...chosen.map((each) => option(each)));
  await show(current);
  await compare(current);
  await judge(current);
}

async function show(current) {
  const model = state.model;
  const answer = state.answers[model] ??= await table("/v1/curves", {
    ...columns(), scores: model, include: "auc,points", keep: "drawn", intervals: "{}", charts: "roc,pr", side: String(SIDE),
    operating_points: POINTS.map(([metric, at]) => ({ metric, at })),
  }, true);
  if (!current()) return;
  $("results").hidden = false;
  $("totals").textContent = `${model}: ${answer.positives.toLocaleString("en")} positives, ${answer.negatives.toLocaleString("en")} negatives`;
  for (const plane of ["roc", "pr"]) draw($(plane), answer.charts[plane]);
  $("warnings").replaceChildren(...answer.warnings.map((each) => element("li", { textContent: each.detail })));
  const rows = answer.points.threshold.map((_, at) => at).filter((at) => answer.points.threshold[at] != null);
  answer.rows = rows;
  $("slider").max = rows.length - 1;
  const there = answer.operating_points;
  const words = ([metric, at]) => ({
    f_measure: "highest F1", recall_at_precision: `precision ${at}`, precision_at_recall: `recall ${at}`, tpr_at_fpr: `false positive rate ${at}`,
  })[metric];
  $("jump").replaceChildren(option("", "Go to"), ...POINTS.map((point, at) => option(at, words(point))).filter((_, at) => there.threshold[at] != null));
  move(nearest((at) => Math.abs(answer.points.threshold[at] - there.threshold[0])));
  copies();
}

const shown = () => state.answers[state.model];

function nearest(distance) {
  const { rows } = shown();
  return rows.reduce((best, at, place) => (distance(at) < distance(rows[best]) ? place : best), 0);
}

function move(place, counts) {
  const { points, rows, positives, negatives } = shown();
  const at = rows[place];
  const { threshold, tp, fp } = counts ?? { threshold: points.threshold[at], tp: points.tp[at], fp: points.fp[at] };
  state.row = { threshold, tp, fp };
  $("slider").value = place;
  $("slider").setAttribute("aria-valuetext", digits(threshold));
  $("threshold").textContent = digits(threshold);
  const cells = { tp, fn: positives - tp, fp, tn: negatives - fp };
  for (const [name, count] of Object.entries(cells)) $(name).textContent = Number(count.toPrecision(12)).toLocaleString("en");
  const recall = tp / positives, fpr = fp / negatives, precision = tp / (tp + fp);
  mark("roc", fpr, recall);
  mark("pr", recall, precision);
  rates({ recall, precision, fpr, f_measure: (2 * tp) / (positives + tp + fp) });
}

function mark(plane, x, y) {
  const picture = $(plane).firstElementChild;
  let dot = picture.querySelector(".mark");
  if (!dot) {
    dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("class", "mark ink");
    dot.setAttribute("color", "#1f2328");
    dot.setAttribute("fill", "currentColor");
    dot.setAttribute("r", "6");
    picture.append(dot);
  }
  dot.setAttribute("cx", LEFT + x * SIDE);
  dot.setAttribute("cy", TOP + (1 - y) * SIDE);
}

function rates(values, found = {}) {
  const names = { recall: "Recall", precision: "Precision", fpr: "False positive rate", f_measure: "F1" };
  $("rates").tBodies[0].replaceChildren(...Object.entries(values).map(([name, value]) => element("tr", {},
    element("th", { scope: "row", textContent: names[name] }), element("td", { textContent: digits(value) }),
    element("td", { className: "soft", textContent: ends(found[name]) }))));
  if (!Object.keys(found).length) intervals(values);
}

let later;
function intervals(values) {
  clearTimeout(later);
  if ($("weights").value) return;
  later = setTimeout(async () => {
    const row = state.row, { positives, negatives } = shown();
    const rule = (metric) => ({ metric, at_threshold: row.threshold, ...(metric === "f_measure" ? { at: 0.5 } : {}), ...(metric === "fpr" ? { max: 1 } : { min: 0 }) });
    const asked = Object.keys(values).filter((name) => values[name] > 0 || name !== "f_measure");
    const counts = { threshold: [row.threshold], tp: [row.tp], fp: [row.fp], positives, negatives };
    try {
      const { checks } = await json("/v1/gates", { counts, intervals: {}, rules: asked.map(rule) });
      if (state.row === row) rates(values, Object.fromEntries(checks.map((check, at) => [asked[at], check.interval])));
    } catch (error) {
      if (!(error instanceof Refused)) throw error; // the rates stay without intervals
    }
  }, 150);
}

// Several models

async function compare(current) {
  const chosen = models();
  $("comparison").hidden = chosen.length < 2;
  if (chosen.length < 2) return;
  if ($("baseline").value === state.model) $("baseline").value = chosen.find((each) => each !== state.model);
  const answer = await table("/v1/comparisons", { ...columns(), scores: chosen, charts: "roc,pr,best_tradeoff", side: String(SIDE) }, true);
  if (!current()) return;
  $("compared").replaceChildren(...["roc", "pr"].map((name) => {
    const place = element("div", { className: "picture" });
    draw(place, answer.charts[name]);
    return place;
  }));
  draw($("best_tradeoff"), answer.charts.best_tradeoff);
  await better(current);
}

async function better(current) {
  const baseline = $("baseline").value, others = models().filter((each) => each !== baseline), lines = [];
  for (const model of others) {
    const rules = AREAS.map((metric) => ({ metric, max_drop: 0 }));
    const { checks } = await table("/v1/gates", { ...columns(), scores: model, baseline_scores: baseline, paired: "true", intervals: "{}", rules }, true);
    if (!current()) return;
    lines.push(element("h3", { textContent: sentence(model, baseline, checks) }));
    lines.push(element("div", { className: "scrolls", tabIndex: 0 }, element("table", {},
      element("thead", {}, element("tr", {}, ...["", baseline, model, "difference", "95 % interval"].map((text) => element("th", { scope: "col", textContent: text })))),
      element("tbody", {}, ...checks.map((check) => element("tr", {}, element("th", { scope: "row", textContent: METRICS[check.rule.metric] }),
        ...[digits(check.baseline), digits(check.value), digits(check.difference), ends(check.interval)].map((text) => element("td", { textContent: text }))))))));
  }
  $("better").replaceChildren(...lines);
}

function sentence(model, baseline, checks) {
  const sign = ({ interval }) => (interval?.lower > 0 ? 1 : interval?.upper < 0 ? -1 : 0);
  const better = checks.filter((check) => sign(check) > 0), worse = checks.filter((check) => sign(check) < 0);
  const names = (list) => list.map(({ rule }) => METRICS[rule.metric]).join(", ");
  if (better.length && !worse.length) return `${model} is better than ${baseline} by ${names(better)}.`;
  if (worse.length && !better.length) return `${model} is worse than ${baseline} by ${names(worse)}.`;
  if (better.length) return `${model} is better by ${names(better)}, worse by ${names(worse)}.`;
  return `These data do not show a difference between ${model} and ${baseline}.`;
}

// Bounds

function addRule(metric = "roc", bound = 0.8, sure = true) {
  const several = models().length > 1;
  const kinds = (name) => [...(name === "fpr" ? [["max", "at most"]] : [["min", "at least"], ["max", "at most"]]), ...(several && name !== "fpr" ? [["max_drop", "drop at most"]] : [])];
  const what = element("select", { ariaLabel: "Metric" }, ...Object.entries(METRICS).map(([name, text]) => option(name, AREAS.includes(name) ? text : `${text} at the threshold`)));
  const kind = element("select", { ariaLabel: "Kind of bound" });
  const value = element("input", { type: "number", min: -1, max: 1, step: "any", value: bound, ariaLabel: "Bound" });
  const confidence = element("input", { type: "checkbox", checked: sure });
  const offer = () => kind.replaceChildren(...kinds(what.value).map(([name, text]) => option(name, text)));
  what.value = metric;
  offer();
  what.onchange = offer;
  const remove = element("button", { type: "button", textContent: "Remove" });
  const line = element("div", { className: "rule" }, what, kind, value, element("label", { className: "check" }, confidence, " with 95 % confidence"), remove);
  remove.onclick = () => { line.remove(); $("add").focus(); rejudge(); };
  line.rule = () => ({
    metric: what.value, ...(AREAS.includes(what.value) ? {} : { at_threshold: state.row.threshold }),
    [kind.value]: Number(value.value), ...(confidence.checked ? { confidence: 0.95 } : {}),
  });
  line.valid = () => value.value !== "";
  $("rules").append(line);
}

const rules = () => [...$("rules").children].filter((line) => line.valid()).map((line) => line.rule());

function gateQuery() {
  const chosen = models(), query = { ...columns(), scores: state.model };
  if (chosen.length > 1) Object.assign(query, { baseline_scores: $("baseline").value, paired: "true" });
  return query;
}

async function judge(current) {
  if (!$("rules").children.length) { addRule("roc", 0.8); addRule("recall", 0.7); }
  const asked = rules();
  copies();
  if (!asked.length) { $("verdict").textContent = ""; $("gate-picture").replaceChildren(); return; }
  try {
    const answer = await table("/v1/gates", { ...gateQuery(), rules: asked, charts: "gate" }, true);
    if (!current()) return;
    $("rules-problem").textContent = "";
    $("verdict").className = answer.status;
    $("verdict").textContent = `${answer.passed ? "✓" : "✗"} ${state.model} ${{ passed: "passes", failed: "fails", undecided: "cannot be decided" }[answer.status]}.`;
    draw($("gate-picture"), answer.charts.gate);
    $("reasons").replaceChildren(...answer.checks.filter((check) => check.reason).map((check) => element("li", { textContent: check.reason })));
  } catch (error) {
    if (!(error instanceof Refused) || !current()) throw error;
    $("rules-problem").textContent = error.message;
    $("verdict").textContent = "";
    $("gate-picture").replaceChildren();
    $("reasons").replaceChildren();
  }
}

let rejudging;
function rejudge() {
  clearTimeout(rejudging);
  rejudging = setTimeout(() => { const run = state.run; judge(() => run === state.run).catch((error) => { if (!(error instanceof Refused)) throw error; }); }, 250);
}

// The same elsewhere

const quoted = (text) => (/^[\w.,:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function copies() {
  const chosen = { ...columns(), ...state.data.format, scores: state.model }, file = /\.\w+$/.test(state.data.name) ? state.data.name : "data.csv";
  const search = new URLSearchParams({ ...chosen, intervals: "{}" });
  const key = $("key").value ? " -H \"Authorization: Bearer $ROCPR_KEY\"" : "";
  const options = Object.entries(chosen).map(([name, value]) => `--${name.replaceAll("_", "-")}${value === "true" ? "" : ` ${quoted(value)}`}`).join(" ");
  const toml = (value) => (typeof value === "string" ? JSON.stringify(value) : Number.isInteger(value) ? value.toFixed(1) : value);
  const query = gateQuery();
  const head = Object.entries(query).map(([name, value]) => `${name} = ${["paired", "lower_is_positive"].includes(name) ? "true" : name === "positive_label" ? value : JSON.stringify(value)}`);
  const bodies = rules().map((rule) => `\n[[rules]]\n${Object.entries(rule).map(([name, value]) => `${name} = ${toml(value)}`).join("\n")}`);
  const texts = {
    "curl": `curl -H 'Content-Type: ${state.data.type}'${key} --data-binary @${quoted(file)} '${location.origin}/v1/curves?${search}'`,
    "Command line": `rocpr curves ${quoted(file)} ${options} --intervals '{}'\nrocpr gate rules.toml ${quoted(file)}`,
    "rules.toml, for CI": [...head, ...bodies].join("\n"),
  };
  $("copies").replaceChildren(...Object.entries(texts).map(([name, text]) => {
    const content = element("pre", { textContent: text, tabIndex: 0, ariaLabel: name });
    const button = element("button", { type: "button", textContent: "Copy", ariaLabel: `Copy: ${name}` });
    button.onclick = async () => {
      getSelection().selectAllChildren(content);
      try { await navigator.clipboard.writeText(text); } catch { document.execCommand("copy"); }
      button.textContent = "Copied";
    };
    return element("div", {}, element("div", { className: "row" }, element("strong", { textContent: name }), button), content);
  }));
}

function save(plane) {
  const link = element("a", { download: `${state.model}-${plane}.svg`, href: URL.createObjectURL(new Blob([shown().charts[plane]], { type: "image/svg+xml" })) });
  link.click();
  URL.revokeObjectURL(link.href);
}

// What people do

$("limit").textContent = size(page.limit);
$("key-field").hidden = page.keys !== "true";
$("file").onchange = () => { const [file] = $("file").files; if (file) take(file, file.name); $("file").value = ""; };
$("drop").ondragover = (event) => { event.preventDefault(); $("drop").classList.add("over"); };
$("drop").ondragleave = () => $("drop").classList.remove("over");
$("drop").ondrop = (event) => { event.preventDefault(); $("drop").classList.remove("over"); const [file] = event.dataTransfer.files; if (file) take(file, file.name); };
$("paste").onclick = () => { const open = $("pasting").hidden; $("pasting").hidden = !open; $("paste").setAttribute("aria-expanded", open); if (open) $("rows").focus(); };
$("use").onclick = () => { if ($("rows").value.trim()) take(new Blob([$("rows").value]), "Pasted rows"); };
$("cancel").onclick = () => state.request?.abort();
$("data").onsubmit = (event) => event.preventDefault();
$("columns").onchange = (event) => { if (event.target === $("labels")) offerPositive(); busy(evaluate); };
$("models").onchange = (event) => { state.model = event.target.value; busy(async (current) => { await show(current); await compare(current); await judge(current); }); };
$("baseline").onchange = () => busy(async (current) => { await better(current); await judge(current); });
$("slider").oninput = () => { $("jump").value = ""; move(Number($("slider").value)); };
$("slider").onchange = rejudge;
$("jump").onchange = () => {
  if ($("jump").value === "") return;
  const { operating_points: there, points } = shown(), at = $("jump").value, threshold = there.threshold[at];
  move(nearest((row) => Math.abs(points.threshold[row] - threshold)), { threshold, tp: there.tp[at], fp: there.fp[at] });
  rejudge();
};
$("rules").onchange = rejudge;
$("add").onclick = () => { addRule("precision", 0.5, false); $("rules").lastElementChild.firstElementChild.focus(); rejudge(); };
for (const plane of ["roc", "pr"]) {
  $(plane).onclick = (event) => {
    const box = $(plane).firstElementChild.getBoundingClientRect(), scale = $(plane).firstElementChild.viewBox.baseVal.width / box.width;
    const x = ((event.clientX - box.left) * scale - LEFT) / SIDE, y = 1 - ((event.clientY - box.top) * scale - TOP) / SIDE;
    const { points } = shown(), [across, up] = plane === "roc" ? [points.fpr, points.tpr] : [points.recall, points.precision];
    move(nearest((at) => Math.hypot(across[at] - x, (up[at] ?? 1) - y)));
    rejudge();
  };
}
for (const button of document.querySelectorAll("[data-save]")) button.onclick = () => save(button.dataset.save);
$("unlock").onclick = () => (state.data ? take(state.data.body, state.data.name) : first());
const first = () => take(new Blob([sample()]), "Sample of 600 transactions");
if (page.keys !== "true") first();
