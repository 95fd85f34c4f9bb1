// The page at /. The service computes curves, areas, intervals and verdicts; the page only divides counts.
"use strict";

const $ = id => document.getElementById(id);
const page = document.documentElement.dataset;
const policy = window.trustedTypes?.createPolicy("rocpr-picture", {createHTML: text => text});
const FIELDS = ["scores", "labels", "positive_label", "weights", "jump"];
const TYPES = {__proto__: null, parquet: "parquet", arrow: "arrow.file", feather: "arrow.file"};
const LEFT = 50, TOP = 36, SIDE = Math.min(360, innerWidth - 110);
const METRICS = {roc: "ROC area", pr: "PR area", average_precision: "average precision", recall: "recall", precision: "precision", fpr: "false positive rate", f_measure: "F1", called: "share called positive"};
const AREAS = ["roc", "pr", "average_precision"];
const POINTS = [["f_measure", 0.5, "highest F1"]];
for (const at of [0.8, 0.9, 0.95]) POINTS.push(["precision_at_recall", at, `recall ≥ ${at}`], ["recall_at_precision", at, `precision ≥ ${at}`]);
for (const at of [0.01, 0.05, 0.1]) POINTS.push(["tpr_at_fpr", at, `${METRICS.fpr} ≤ ${at}`]);

const timers = {}, copied = {}, requests = new Set();
let data, found, model, row, unclear, run = 0, judging = 0, answers;
const shown = () => answers?.[model];

function make(tag, properties, ...children) {
	const made = Object.assign(document.createElement(tag), properties);
	made.append(...children);
	return made;
}

const fill = (id, ...children) => $(id).replaceChildren(...children);
const write = (id, text) => {$(id).textContent = text;};
const say = (tag, textContent, more) => make(tag, {textContent, ...more});
const option = (value, text = value) => say("option", text, {value});
const options = texts => texts.map(text => option(text));
const cells = (tag, texts) => texts.map(text => say(tag, text));
const line = (head, ...texts) => make("tr", {}, say("th", head, {scope: "row"}), ...cells("td", texts));
const digits = value => value?.toPrecision(4) ?? "none";
const ends = interval => interval ? `${digits(interval.lower)} to ${digits(interval.upper)}` : "";
const many = count => (+count).toLocaleString("en");
const asInfinite = text => `${text}`.replace(/1\.7976931348623157e\+?308/g, "inf"); // JSON has no infinite number
const size = bytes => bytes < 1e5 ? `${many(bytes)} bytes` : `${many(bytes / 2**20)} MiB`;

function pictures(prefix, {charts}) {
	for (const name in charts) {
		const svg = asInfinite(charts[name]), text = policy?.createHTML(svg) ?? svg;
		const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
		for (const each of drawn.querySelectorAll("text")) {
			each.textContent = each.textContent.replace(/^(\d+)\xa0\xa0.*…/, (_, at) => `${at}\xa0\xa0${brief(models()[at - 1])}`); // a cut name
		}
		fill(prefix + name, drawn);
	}
}

class Refused extends Error {
	constructor(message, {errors = [], status} = {}) {
		super(message);
		Object.assign(this, {errors, status});
	}
}

function ask(path, query, body, type) {
	return new Promise((resolve, reject) => {
		const asked = new XMLHttpRequest(), mine = run, refuse = (message, problem) => reject(new Refused(message, problem));
		requests.add(asked);
		for (const name in query) if (typeof query[name] !== "string") query[name] = JSON.stringify(query[name]);
		asked.open("POST", `${path}?${new URLSearchParams(query)}`);
		asked.setRequestHeader("Content-Type", type);
		if ($("key").value) asked.setRequestHeader("Authorization", `Bearer ${$("key").value}`);
		asked.upload.onprogress = ({loaded, total}) => {$("progress").value = loaded / total;};
		asked.upload.onload = waiting;
		asked.responseType = "json";
		asked.onload = () => {
			const {status, response} = asked;
			if (mine !== run) return;
			status === 200 ? resolve(response) : refuse(response?.detail || `The server answered ${status}.`, response || {});
		};
		asked.onerror = () => refuse("No connection.");
		asked.onabort = () => refuse("Cancelled.");
		asked.send(body);
	});
}

const waiting = () => $("progress").removeAttribute("value");
const table = (path, query) => ask(path, {...data.format, ...(query && columns()), ...query}, data.body, data.type);
const drawn = (path, charts, query) => table(path, {...query, charts, side: String(SIDE), theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"});
const models = () => [...document.querySelectorAll("#scores :checked")].map(box => box.value);

function columns() {
	const chosen = {labels: $("labels").value};
	for (const name of ["positive_label", "weights"]) if ($(name).value) chosen[name] = $(name).value;
	if ($("lower_is_positive").checked) chosen.lower_is_positive = "true";
	return chosen;
}

/** What may follow a refusal, as buttons: to read the first row as data, or to leave out rows. */
function offers(text) {
	const again = (label, work) => Object.assign(say("button", label), {onclick: () => {$("file").focus({preventScroll: true}); work();}});
	if (text.includes("header=absent")) return [again("The first row is data", () => take(data.body, data.name, {header: "absent"}))];
	if (!text.includes("missing=drop") || !found) return [];
	const used = [...models(), $("labels").value, $("weights").value].map(name => found.missing[found.name.indexOf(name)] ?? 0);
	const [count, more] = used.filter(Boolean), rows = !count || more ? "rows" : `${many(count)} of ${many(data.rows)} rows`;
	return [again(`Leave out ${rows} without a value`, () => {
		data.format.missing = "drop";
		$("source").append("; those without a value are left out");
		busy(evaluate);
	})];
}

/** A detail of a refusal in the page's words. */
const asSaid = detail => detail.replace(/ \(curl .*?\)/, "").replace(/: send Content-.*/, ". This page takes .csv, .arrow and .parquet.")
	.replace(/ If it is data, add .*/, "").replace(/ Leave out rows without one, or set missing=drop\./, "").replace(/\b([Tt])he body\b/g, "$1he file");

function tell(error) {
	for (const name of FIELDS) write(`${name}-problem`, "");
	const rest = error && !error.errors.length ? [error.message] : [];
	const details = [error?.message, ...(error?.errors ?? []).map(({detail}) => detail)].join(" ");
	let last = "problem";
	for (const {pointer, detail} of error?.errors || []) {
		const [, place = "", at] = pointer.split("/"), column = place.replaceAll("~1", "/").replaceAll("~0", "~");
		const field = models().includes(column) ? "scores" : column && FIELDS.find(name => name === column || $(name).value === column);
		const text = `${field === "scores" && models().length > 1 ? `${column}: ` : ""}${at ? `Row ${+at + data.firstRow}: ` : ""}${asSaid(detail)}`;
		if (field && !$("columns").hidden) write(last = `${field}-problem`, text);
		else rest.push(text);
	}
	write("problem", asSaid(rest.join(" ")));
	fill("offers", ...offers(details));
	$(last).after($("offers"));
	if (error?.status === 401) $("locked").hidden = false;
}

function cancel() {
	requests.forEach(asked => asked.abort());
	requests.clear();
}

const aside = work => work().catch(error => write("problem", expected(error).message));

function expected(error) {
	if (error instanceof Refused) return error;
	throw error;
}

async function busy(work) {
	const mine = ++run;
	cancel();
	Object.values(timers).forEach(clearTimeout);
	waiting();
	$("busy").hidden = false;
	try {
		tell();
		await work();
	} catch (error) {
		expected(error);
		if (mine !== run) return;
		$("columns").hidden = !found;
		$("results").hidden = true;
		tell(error);
	} finally {
		if (mine === run) {
			if (document.activeElement === $("cancel")) $("file").focus();
			$("busy").hidden = true;
		}
	}
}

function sample() {
	let seed = 7;
	const noise = () => 2 * (seed = seed * 48271 % 2147483647) / 2147483647 - 1;
	let text = "fraud,current,candidate\n";
	for (let at = 0; at < 600; at++) {
		const fraud = at % 5 ? 0 : 1, shared = noise() + noise();
		const score = shift => (1 / (1 + Math.exp(-shift * fraud - shared - noise()))).toFixed(4);
		text += `${fraud},${score(1.5)},${score(1.9)}\n`;
	}
	return text;
}

const FOR_EXCEL = /^"?sep=([,;\t|])"?[^\n]*\n/i;

/** The options for a text's delimiter and decimal mark. A line for Excel gives the delimiter to the service, too. */
function formatOf(text) {
	const excel = FOR_EXCEL.exec(text), rows = text.slice(excel?.[0].length ?? 0);
	const [head] = rows.split(/\r?\n/, 1), bare = head.replace(/"[^"]*"/g, ""), count = each => bare.split(each).length;
	const [mark] = excel ? [excel[1]] : [...",;\t|"].sort((a, b) => count(b) - count(a));
	const spaced = count(mark) === 1 && /\S +\S/.test(head);
	const delimiter = spaced ? "space" : {";": "semicolon", "\t": "tab", "|": "pipe"}[mark];
	if (!delimiter) return {};
	return /(^|[;\t| \n])"?-?\d*,\d/.test(rows) ? {delimiter, decimal: "comma"} : {delimiter};
}

async function isUtf8(body) {
	try {
		new TextDecoder("utf-8", {fatal: true}).decode(await body.arrayBuffer());
		return true;
	} catch {
		return false;
	}
}

async function take(body, name, reading = {}) {
	if (body.size > page.limit) return tell(new Refused(`${name} is ${size(body.size)}; this server takes up to ${size(page.limit)}.`));
	if (!body.size) return tell(new Refused(`${name} is empty.`));
	const kind = TYPES[name.split(".").pop().toLowerCase()], text = kind ? "" : await body.slice(0, 65536).text();
	const western = !kind && !text.includes("\0") && !await isUtf8(body); // as German and French editions of Excel write
	const type = kind ? `application/vnd.apache.${kind}` : `text/csv${western ? "; charset=windows-1252" : ""}`;
	const firstRow = kind ? 1 : reading.header === "absent" ? 1 : 2; // as a spreadsheet numbers it, which hides a line such as sep=;
	if (data.body !== body) fill("rules"); // the bounds were for other data
	data = {...(data.body === body && data), body, name, type, firstRow, format: kind ? {} : {...formatOf(text), ...reading}};
	write("source", `${name}, ${size(body.size)}${western ? ", read as Windows-1252" : ""}`);
	found = null;
	await busy(async () => {
		const {columns, rows} = await table("/v1/columns");
		found = columns;
		data.rows = rows;
		$("source").append(`, ${many(rows)} rows`);
		choose(found);
		await evaluate();
	});
}

function choose({name, type, values, more}, given) {
	const two = at => !more[at] && values[at].length === 2;
	const rank = at => /^(y|labels?|target|class|truth|y_?true|outcome|actual)$/i.test(name[at]) ? 0 : two(at) ? 1 : 2;
	const places = [...name.keys()];
	const label = given ?? places.reduce((best, at) => (rank(at) < rank(best) ? at : best), 0);
	const others = places.filter(at => at !== label), numbers = others.filter(at => type[at] === "number");
	const weight = numbers.find(at => /^(w|weights?|sample_?weights?)$/i.test(name[at]));
	const isId = at => /^(|.*(\b|_)id|index|row|unnamed.*)$/i.test(name[at]);
	const scores = (numbers.every(isId) ? others : numbers).filter(at => at !== weight);
	const named = scores.filter(at => /scor|prob|pred|risk|model|logit|xgb|boost|forest/i.test(name[at]));
	const varied = scores.filter(at => !two(at) && !isId(at));
	const shares = varied.filter(at => values[at].every(each => (each = `${each}`.replace(",", ".")) >= 0 && each <= 1));
	const chosen = [named, shares, varied, scores].find(list => list.length)?.slice(0, 8) || [];
	fill("labels", ...options(name));
	$("labels").value = name[label];
	fill("weights", option("", "none"), ...options(numbers.map(at => name[at])));
	$("weights").value = name[weight] ?? "";
	fill("scores", ...scores.map(at => tick("checkbox", name[at], chosen.includes(at))));
	$("columns").hidden = false;
	offer();
}

const tick = (type, value, checked) => make("label", {}, make("input", {type, name: type, value, checked}), value);

function offer() {
	const texts = found.values[$("labels").selectedIndex].map(String);
	unclear = !texts.every(each => /^(-?1|0|true|false)$/i.test(each));
	fill("positive_label", option("", unclear ? "Choose" : "1 or true"), ...options(texts));
	$("positive_label").value = unclear && texts.find(each => /^(y|t|pos|spam|fraud|bad|malignant|churn|case|sick|event|default|ja$|oui)/i.test(each)) || "";
}

async function evaluate() {
	const chosen = models();
	if (!chosen.length) throw new Refused("Choose a column of scores.");
	if (unclear && !$("positive_label").value) throw new Refused("", {errors: [{pointer: "/positive_label", detail: "Which label is positive?"}]});
	answers = Object.create(null); // a column may be called constructor
	if (!chosen.includes(model)) model = chosen.at(-1);
	fill("models", ...(chosen.length > 1 ? chosen : []).map(each => tick("radio", each, each === model)));
	await all();
}

async function all() {
	await show();
	await compare();
	await judge();
}

async function show() {
	const name = model;
	const answer = answers[name] ??= await drawn("/v1/curves", "roc,pr", {scores: name, include: "auc,points", keep: "drawn", intervals: "{}"});
	const {points, positives, negatives} = answer;
	$("results").hidden = false;
	write("totals", `${name}: ${many(positives)} positives, ${many(negatives)} negatives`);
	pictures("", answer);
	fill("warnings", ...cells("li", answer.warnings.filter(({code}) => code !== "infinite_scores").map(({detail}) => detail)));
	$("tradeoffs").open = false;
	answer.rows = [...points.threshold.keys()].filter(at => points.threshold[at] != null);
	$("slider").max = answer.rows.length - 1;
	move(nearest(at => -points.tp[at] / (positives + points.tp[at] + points.fp[at]))); // the highest F1 is on the hull
}

function nearest(distance) {
	const {rows} = shown();
	return rows.reduce((best, at, place) => (distance(at) < distance(rows[best]) ? place : best), 0);
}

function move(place, exact) {
	const {points, rows, positives, negatives} = shown(), at = rows[place];
	const {threshold, tp, fp} = (row = exact ?? {threshold: points.threshold[at], tp: points.tp[at], fp: points.fp[at]});
	$("slider").value = place;
	$("slider").ariaValueText = asInfinite(threshold);
	writeThreshold();
	write("jump-problem", "");
	write("jump-note", "");
	if (!exact) $("jump").value = "";
	for (const [name, count] of Object.entries({tp, fn: positives - tp, fp, tn: negatives - fp})) write(name, many(count));
	const values = {recall: tp / positives, precision: tp + fp ? tp / (tp + fp) : null, fpr: fp / negatives, f_measure: 2 * tp / (positives + tp + fp), called: (tp + fp) / (positives + negatives)};
	mark("roc", values.fpr, values.recall);
	mark("pr", values.recall, values.precision ?? 1);
	rates(values, {});
	intervals(values);
}

/** A field for numbers cannot hold an infinite one, but its placeholder can. */
function writeThreshold() {
	const text = asInfinite(row.threshold);
	$("threshold").placeholder = text;
	$("threshold").value = text.endsWith("inf") ? "" : text;
}

function mark(plane, x, y) {
	const picture = $(plane).firstElementChild;
	const dot = picture.querySelector(".mark") || picture.appendChild(document.createElementNS(picture.namespaceURI, "circle"));
	for (const [name, value] of Object.entries({class: "mark", r: 6, cx: LEFT + x * SIDE, cy: TOP + (1 - y) * SIDE})) dot.setAttribute(name, value);
}

function rates(values, known) {
	$("rates").tBodies[0].replaceChildren(...Object.keys(values).map(name => line(METRICS[name], digits(values[name]), ends(known[name]))));
}

function soon(what, work) {
	clearTimeout(timers[what]);
	timers[what] = setTimeout(() => aside(work), 200);
}

function intervals(values) {
	if ($("weights").value) return;
	soon("intervals", async () => {
		const {positives, negatives} = shown(), {threshold, tp, fp} = row, here = row, asked = Object.keys(values).filter(name => name !== "called");
		const rule = metric => ({metric, at_threshold: threshold, max: 1, ...(metric === "f_measure" && {at: 0.5})});
		const judged = (counts, metrics) => ask("/v1/gates", {}, JSON.stringify({counts, intervals: {}, rules: metrics.map(rule)}), "application/json");
		const {checks} = await judged({threshold: [threshold], tp: [tp], fp: [fp], positives, negatives}, asked);
		// The share of all rows is a proportion as recall is, which is one of the positives; the negatives do not count.
		const shares = await judged({threshold: [threshold], tp: [tp + fp], fp: [0], positives: positives + negatives, negatives: 2}, ["recall"]);
		const known = Object.fromEntries(checks.map((check, at) => [asked[at], check.interval]));
		if (row === here) rates(values, {...known, called: shares.checks[0].interval});
	});
}

/** Move to a threshold that was typed: its counts are asked for, since not every row is drawn. */
async function type() {
	const typed = $("threshold").value, answer = shown();
	if (typed === "") return writeThreshold();
	const {points} = await table("/v1/curves", {scores: model, include: "points", thresholds: typed});
	if (answer !== shown() || typed !== $("threshold").value) return;
	const at = points.threshold.findIndex(each => each != null && +each === +typed);
	move(nearest(each => Math.abs(answer.points.threshold[each] - typed)), {threshold: +typed, tp: points.tp[at], fp: points.fp[at]});
	rejudge();
}

/** Move to the next threshold of the slider, also from a typed one between two of them. */
function step(by) {
	const {points, rows} = shown(), places = [...rows.keys()].filter(place => (points.threshold[rows[place]] - row.threshold) * by > 0);
	if (!places.length) return;
	move(places.at($("lower_is_positive").checked === by > 0 ? 0 : -1));
	rejudge();
}

async function jump() {
	const answer = shown();
	answer.there ??= (await table("/v1/curves", {scores: model, include: "auc", operating_points: POINTS.map(([metric, at]) => ({metric, at}))})).operating_points;
	const {threshold, tp, fp} = answer.there, at = $("jump").value;
	if (answer !== shown() || !at) return;
	if (threshold[at] == null) return write("jump-problem", "No threshold meets this.");
	move(nearest(each => Math.abs(answer.points.threshold[each] - threshold[at])), {threshold: threshold[at], tp: tp[at], fp: fp[at]});
	if (POINTS[at][0] === "tpr_at_fpr") write("jump-note", `That is a share of the negatives. Of all rows, ${digits(100 * (tp[at] + fp[at]) / (answer.positives + answer.negatives))} % are called positive.`);
	rejudge();
}

async function compare() {
	const chosen = models(), others = chosen.filter(each => each !== model), before = $("baseline").value;
	$("comparison").hidden = !others.length;
	if (!others.length) return;
	fill("baseline", ...options(others));
	if (others.includes(before)) $("baseline").value = before;
	pictures("compared-", await drawn("/v1/comparisons", "roc,pr,best_tradeoff", {scores: chosen}));
	await better();
}

async function better() {
	const baseline = $("baseline").value, lines = [];
	for (const other of models().filter(each => each !== baseline)) {
		const {checks} = await table("/v1/gates", {scores: other, baseline_scores: baseline, paired: "true", intervals: "{}", rules: AREAS.map(metric => ({metric, max_drop: 0}))});
		const head = make("tr", {}, make("td"), ...[baseline, other].map(name => say("th", brief(name), {title: name})), say("th", "difference, 95 % interval"));
		const body = checks.map(({rule, baseline, value, difference, interval}) => {
			const made = line(METRICS[rule.metric], digits(baseline), digits(value), `${digits(difference)} `);
			made.lastChild.append(say("span", `(${ends(interval)})`));
			return made;
		});
		lines.push(say("h3", sentence(other, baseline, checks)), make("div", {className: "scrolls", tabIndex: 0}, make("table", {}, head, ...body)));
	}
	fill("better", ...lines);
}

/** A model's name, cut to what differs from the others' if it is long. */
function brief(name) {
	const names = models(), words = names.map(each => each.split(/(?<=[_\W])/)), mine = words[names.indexOf(name)];
	if (names.length < 2 || Math.max(...names.map(each => each.length)) <= 16) return name;
	const shortest = Math.min(...words.map(each => each.length)), same = at => words.every(each => each.at(at) === mine.at(at));
	let start = 0, end = 0;
	while (start < shortest - 1 && same(start)) start++;
	while (end < shortest - 1 - start && same(-1 - end)) end++;
	const differs = mine.slice(start, mine.length - end).join("");
	return `${start ? "…\u2060" : ""}${end ? `${differs.replace(/[_\W]$/, "")}…` : differs}`; // no line break after the first
}

function sentence(other, baseline, checks) {
	const names = holds => new Intl.ListFormat("en").format(checks.filter(({interval}) => interval && holds(interval)).map(({rule}) => METRICS[rule.metric]));
	const said = [names(({lower}) => lower > 0), names(({upper}) => upper < 0)].flatMap((by, at) => by ? `${at ? "worse" : "better"} than ${brief(baseline)} by ${by}` : []);
	return said.length ? `${brief(other)} is ${said.join(", ")}.` : `The data do not show which is better, ${brief(other)} or ${brief(baseline)}.`;
}

function addRule(metric, bound, sure) {
	const names = [...AREAS, "recall", "precision", "fpr"], isArea = name => AREAS.includes(name);
	const what = make("select", {ariaLabel: "Metric"}, ...names.map(name => option(name, METRICS[name] + (isArea(name) ? "" : " at the threshold"))));
	const kind = make("select", {ariaLabel: "Kind of bound"});
	const bounds = make("input", {type: "number", min: -1, max: 1, step: "any", value: bound, ariaLabel: "Bound"});
	const confidence = make("input", {type: "checkbox", checked: sure});
	const remove = say("button", "Remove");
	const made = make("div", {className: "rule"}, what, kind, bounds, make("label", {}, confidence, " with 95 % confidence"), remove);
	what.value = metric;
	const kinds = () => kind.replaceChildren(...(what.value === "fpr" ? [] : [option("min", "at least"), option("max_drop", "drop at most")]), option("max", "at most"));
	what.onchange = () => {kinds(); bounds.value = "";}; // a bound is for one metric
	kinds();
	remove.onclick = () => {made.remove(); $("add").focus(); rejudge();};
	made.rule = () => bounds.value && {
		metric: what.value, ...(!isArea(what.value) && {at_threshold: row.threshold}), [kind.value]: +bounds.value, ...(confidence.checked && {confidence: 0.95}),
	};
	$("rules").append(made);
}

const rules = () => [...$("rules").children].map(made => made.rule()).filter(Boolean);
const paired = () => models().length > 1 && $("baseline").value !== model && {baseline_scores: $("baseline").value, paired: "true"};

async function judge() {
	if (data.isSample && !data.hasRules) {addRule("roc", 0.8, true); addRule("recall", 0.7, true);}
	data.hasRules = true;
	const asked = rules(), of = model, mine = ++judging;
	document.querySelectorAll("[value=max_drop]").forEach(each => {each.disabled = models().length < 2;});
	copies();
	let verdict, answer = {checks: []};
	try {
		if (asked.length) answer = await drawn("/v1/gates", "gate", {scores: of, ...paired(), rules: asked});
		verdict = {passed: `✓ ${of} passes.`, failed: `✗ ${of} fails.`, undecided: `? ${of} cannot be judged.`}[answer.status] ?? "Add a bound to judge by.";
	} catch (error) {
		verdict = expected(error).message;
	}
	if (mine !== judging) return;
	$("verdict").className = answer.status ?? "";
	write("verdict", verdict);
	fill("reasons", ...cells("li", answer.checks.map(check => check.reason).filter(Boolean).map(asInfinite)));
	fill("drawn-gate");
	pictures("drawn-", answer);
}

const rejudge = () => soon("judge", judge);

const quoted = text => /^[\w.,:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const asFile = name => quoted(name.startsWith("-") ? `./${name}` : name);

function copies() {
	const chosen = {...columns(), scores: model}, file = asFile(/\.\w+$/.test(data.name) ? data.name : "data.csv");
	const key = $("key").value && ' -H "Authorization: Bearer $KEY"';
	const flags = values => Object.entries(values).map(([name, value]) => ` --${name.replaceAll("_", "-")}${name === "lower_is_positive" ? "" : ` ${quoted(value)}`}`).join("");
	const typed = found.values[$("labels").selectedIndex].find(value => String(value) === chosen.positive_label);
	const text = (name, value) => value === "true" ? value : asInfinite(JSON.stringify(name === "positive_label" ? typed : value));
	const toml = values => Object.entries(values).map(([name, value]) => `${name} = ${text(name, value)}`).join("\n");
	const texts = {
		curl: `curl -H 'Content-Type: ${data.type}'${key} --data-binary @${file} '${location.origin}/v1/curves?${new URLSearchParams({...chosen, ...data.format, intervals: "{}"})}'`,
		"Command line": `rocpr curves ${file}${flags({...chosen, ...data.format})} --intervals '{}'${rules().length ? `\nrocpr gate rules.toml ${file}${flags(data.format)}` : ""}`,
		"rules.toml, for CI": !rules().length ? "Add a bound above to get rules." : [toml({...chosen, ...paired()}), ...rules().map(rule => `[[rules]]\n${toml(rule)}`)].join("\n\n"),
	};
	for (const name in texts) {
		const {content, button} = copied[name] ??= copyable(name);
		if (content.textContent !== texts[name]) button.textContent = "Copy";
		content.textContent = texts[name];
	}
}

function copyable(name) {
	const content = make("pre", {tabIndex: 0}), button = make("button", {ariaLabel: `Copy: ${name}`});
	button.onclick = async () => {
		getSelection().selectAllChildren(content);
		try {await navigator.clipboard.writeText(content.textContent);} catch {document.execCommand("copy");}
		button.textContent = "Copied";
	};
	$("copies").append(make("div", {className: "row"}, say("strong", name), button), content);
	return {content, button};
}

$("save").onclick = () => {
	const charts = shown()?.charts;
	for (const plane in charts) make("a", {download: `${model}-${plane}.svg`, href: `data:image/svg+xml,${encodeURIComponent(charts[plane])}`}).click();
};

$("jump").after(make("p", {id: "jump-note", className: "soft", role: "status"}));
for (const name of FIELDS) {
	$(name).after(make("p", {id: `${name}-problem`, className: "problem", role: "alert"}));
	$(name).setAttribute("aria-describedby", `${name}-problem`);
}

const again = () => take(data.body, data.name);
data = {body: new Blob([sample()]), name: "Sample", isSample: true};
const chosen = ([file]) => file && take(file, file.name);
write("limit", size(page.limit));
$("locked").hidden = page.keys !== "true";
$("jump").append(...POINTS.map(([, , text], at) => option(at, text)));
$("file").onchange = () => {chosen($("file").files); $("file").value = "";};
for (const type of ["dragover", "dragleave", "drop"]) {
	$("drop").addEventListener(type, event => {
		event.preventDefault();
		$("drop").className = type === "dragover" ? "over" : "";
		if (type === "drop") chosen(event.dataTransfer.files);
	});
}
$("use").onclick = () => $("rows").value.trim() && take(new Blob([$("rows").value]), "Rows");
$("cancel").onclick = cancel;
$("locked").onsubmit = event => again(event.preventDefault());
$("columns").onchange = ({target}) => {if (target === $("labels")) choose(found, $("labels").selectedIndex); busy(evaluate);};
$("models").onchange = ({target}) => {model = target.value; busy(all);};
$("baseline").onchange = () => busy(all);
$("slider").oninput = () => shown() && move($("slider").value);
$("slider").onchange = rejudge;
$("threshold").onchange = () => shown() && aside(type);
$("lower").onclick = () => shown() && step(-1);
$("higher").onclick = () => shown() && step(1);
$("threshold").onkeydown = event => {
	const by = {ArrowUp: 1, ArrowDown: -1}[event.key];
	if (!by || !shown()) return;
	event.preventDefault();
	step(by);
};
$("jump").onchange = () => shown() && aside(jump);
$("rules").onchange = rejudge;
$("add").onclick = () => {addRule("precision", 0.5); $("rules").lastElementChild.firstElementChild.focus(); rejudge();};
$("tradeoffs").ontoggle = () => $("tradeoffs").open && aside(async () => {
	pictures("drawn-", await drawn("/v1/tradeoffs", "tradeoffs", {scores: model}));
});
for (const plane of ["roc", "pr"]) {
	$(plane).onclick = event => {
		if (!shown()) return;
		const picture = $(plane).firstElementChild, {left, top, width} = picture.getBoundingClientRect(), {points} = shown();
		const scale = picture.viewBox.baseVal.width / width;
		const x = ((event.clientX - left) * scale - LEFT) / SIDE, y = 1 - ((event.clientY - top) * scale - TOP) / SIDE;
		const [across, up] = plane === "roc" ? [points.fpr, points.tpr] : [points.recall, points.precision];
		move(nearest(at => Math.hypot(across[at] - x, (up[at] ?? 1) - y)));
		rejudge();
	};
}
if ($("locked").hidden) again();
