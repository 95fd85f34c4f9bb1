/**
 * Verdicts: which model is better, and whether one would pass a gate.
 *
 * Both come from the service, as answers of /v1/gates; this puts them into words. Knows the sections "Which model is
 * better?" and "Would it pass?".
 */
import {
	byId, cells, digits, ends, fill, make, makeText, option, options, tableRow, withInfinity, write,
} from "./elements.js";
import {expected, soon} from "./requests.js";
import {brief, data, models, table} from "./data.js";
import {METRICS, drawn, model, putPictures, row} from "./curves.js";
import {writeCopies} from "./copies.js";

const AREAS = ["roc", "pr", "average_precision"];
const OF_ROW = ["recall", "precision", "fpr", "specificity", "accuracy", "f1", "mcc"];
const LOSSES = ["brier", "log_loss"];
const LESS_IS_BETTER = ["fpr", ...LOSSES];

let judgement = 0; // the last one that was asked for

/** Compare the model with the others, if there are any, and every other with the baseline. */
export async function compare() {
	const chosen = models();
	const others = chosen.filter(each => each !== model);
	const before = byId("baseline").value;
	byId("comparison").hidden = !others.length;
	if (!others.length) return;
	fill("baseline", ...options(others));
	if (others.includes(before)) byId("baseline").value = before;
	putPictures("compared-", await drawn("/v1/comparisons", "roc,pr,best_tradeoff", {scores: chosen}));
	const baseline = byId("baseline").value;
	const said = [];
	for (const other of chosen.filter(each => each !== baseline)) {
		const {checks} = await table("/v1/gates", {
			scores: other,
			baseline_scores: baseline,
			paired: true,
			intervals: {},
			rules: AREAS.map(metric => ({metric, max_drop: 0})),
		});
		const names = [baseline, other].map(name => makeText("th", brief(name), {title: name}));
		const heading = make("tr", {}, make("td"), ...names, makeText("th", "difference, 95 % interval"));
		const differences = make("table", {}, heading, ...checks.map(difference));
		said.push(makeText("h3", sentence(other, baseline, checks)));
		said.push(make("div", {className: "scrolls", tabIndex: 0}, differences));
	}
	fill("better", ...said);
}

function difference({rule, baseline, value, difference, interval}) {
	const made = tableRow(METRICS[rule.metric], digits(baseline), digits(value), `${digits(difference)} `);
	made.lastChild.append(makeText("span", `(${ends(interval)})`));
	return made;
}

/** Which areas show that the one model is better or worse, if any do. */
function sentence(other, baseline, checks) {
	const [one, two] = [other, baseline].map(brief);
	const by = (word, holds) => {
		const areas = checks.filter(({interval}) => holds(interval)).map(({rule}) => METRICS[rule.metric]);
		return areas.length ? [`${word} than ${two} by ${new Intl.ListFormat("en").format(areas)}`] : [];
	};
	const said = [...by("better", interval => interval?.lower > 0), ...by("worse", interval => interval?.upper < 0)];
	return said.length ? `${one} is ${said.join(", ")}.` : `The data do not show which is better, ${one} or ${two}.`;
}

/** Add the fields of a bound; the element's `rule` returns the rule, unless there is no bound yet. */
export function addRule(metric, bound, isSure) {
	const isOfRow = name => OF_ROW.includes(name);
	const what = make("select", {ariaLabel: "Metric"}, ...[...AREAS, ...OF_ROW, ...LOSSES].map(name =>
		option(name, METRICS[name] + (isOfRow(name) ? " at the threshold" : "")),
	));
	const kind = make("select", {ariaLabel: "Kind of bound"});
	const field = make("input", {type: "number", step: "any", value: bound, ariaLabel: "Bound"});
	const {name, type, more} = data.columns ?? {name: []}; // while another file is read
	const mayBeSlices = (each, place) => each !== byId("labels").value && (type[place] === "text" || !more[place]);
	const slices = name.filter(mayBeSlices).map(each => option(each, `in each ${each}`));
	const rows = make("select", {ariaLabel: "Rows", hidden: !slices.length}, option("", "on all rows"), ...slices);
	const confidence = make("input", {type: "checkbox", checked: isSure});
	const remove = makeText("button", "Remove");
	const label = make("label", {}, confidence, " with 95 % confidence");
	const made = make("div", {className: "rule"}, what, kind, field, rows, make("span", {}, label, " ", remove));
	const offerKinds = () => kind.replaceChildren(...(LESS_IS_BETTER.includes(what.value)
		? [option("max", "at most"), option("max_rise", "rise at most")]
		: [option("min", "at least"), option("max_drop", "drop at most"), option("max", "at most")]));
	what.value = metric;
	offerKinds();
	what.onchange = () => {
		offerKinds();
		field.value = ""; // a bound is for one metric
	};
	remove.onclick = () => {
		made.remove();
		byId("add").focus();
		rejudge();
	};
	made.rule = () => field.value && {
		metric: what.value,
		...(isOfRow(what.value) && {at_threshold: row.threshold}),
		[kind.value]: +field.value,
		...(rows.value && {slices: [rows.value]}),
		...(confidence.checked && {confidence: 0.95}),
	};
	byId("rules").append(made);
}

/** Ask for the verdict on the bounds, and show it; the sample has some of its own at first. */
export async function judge() {
	for (const [metric, bound] of data.bounds?.splice(0) ?? []) addRule(metric, bound, true);
	const mine = ++judgement;
	const rules = [...byId("rules").children].map(made => made.rule()).filter(Boolean);
	const hasBaseline = models().length > 1 && byId("baseline").value !== model;
	const baseline = hasBaseline && {baseline_scores: byId("baseline").value, paired: true};
	document.querySelectorAll("[value=max_drop], [value=max_rise]").forEach(change => {
		change.disabled = models().length < 2;
	});
	writeCopies(rules, baseline);
	let answer = {checks: []};
	let verdict;
	try {
		if (rules.length) answer = await drawn("/v1/gates", "gate", {scores: model, ...baseline, rules});
		const said = {passed: `✓ ${model} passes.`, failed: `✗ ${model} fails.`, undecided: `? ${model} cannot be judged.`};
		verdict = said[answer.status] ?? "Add a bound to judge by.";
	} catch (error) {
		verdict = expected(error).message;
	}
	if (mine !== judgement) return;
	byId("verdict").className = answer.status ?? "";
	write("verdict", verdict);
	fill("reasons", ...cells("li", answer.checks.map(check => check.reason).filter(Boolean).map(withInfinity)));
	fill("drawn-gate");
	putPictures("drawn-", answer);
}

/** Judge shortly: a threshold or a bound has changed. */
export const rejudge = () => soon("judge", judge);
