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
const SIGNS = {passed: "✓", failed: "✗", undecided: "?"};

let judgement = 0; // the last one that was asked for

/** Compare the model with the others, if there are any. */
export async function compare() {
	const chosen = models();
	const others = chosen.filter(each => each !== model);
	const before = byId("baseline").value;
	byId("comparison").hidden = !others.length;
	if (!others.length) return;
	fill("baseline", ...options(others));
	if (others.includes(before)) byId("baseline").value = before;
	putPictures("compared-", await drawn("/v1/comparisons", "roc,pr,best_tradeoff", {scores: chosen}));
	await compareWithBaseline();
}

/** Say of every other model whether it is better than the baseline, with the differences of its areas. */
async function compareWithBaseline() {
	const baseline = byId("baseline").value;
	const said = [];
	for (const other of models().filter(each => each !== baseline)) {
		const {checks} = await table("/v1/gates", {
			scores: other,
			baseline_scores: baseline,
			paired: "true",
			intervals: "{}",
			rules: AREAS.map(metric => ({metric, max_drop: 0})),
		});
		const differences = make("table", {}, heading(baseline, other), ...checks.map(difference));
		said.push(makeText("h3", sentence(other, baseline, checks)));
		said.push(make("div", {className: "scrolls", tabIndex: 0}, differences));
	}
	fill("better", ...said);
}

function heading(baseline, other) {
	const names = [baseline, other].map(name => makeText("th", brief(name), {title: name}));
	return make("tr", {}, make("td"), ...names, makeText("th", "difference, 95 % interval"));
}

function difference({rule, baseline, value, difference, interval}) {
	const made = tableRow(METRICS[rule.metric], digits(baseline), digits(value), `${digits(difference)} `);
	made.lastChild.append(makeText("span", `(${ends(interval)})`));
	return made;
}

/** Which areas show that the one model is better or worse, if any do. */
function sentence(other, baseline, checks) {
	const areas = holds => {
		const names = checks.filter(({interval}) => interval && holds(interval)).map(({rule}) => METRICS[rule.metric]);
		return new Intl.ListFormat("en").format(names);
	};
	const better = areas(({lower}) => lower > 0);
	const worse = areas(({upper}) => upper < 0);
	const said = [];
	if (better) said.push(`better than ${brief(baseline)} by ${better}`);
	if (worse) said.push(`worse than ${brief(baseline)} by ${worse}`);
	if (said.length) return `${brief(other)} is ${said.join(", ")}.`;
	return `The data do not show which is better, ${brief(other)} or ${brief(baseline)}.`;
}

/** Add the fields of a bound; the element's `rule` returns the rule, unless there is no bound yet. */
export function addRule(metric, bound, isSure) {
	const isArea = name => AREAS.includes(name) || LOSSES.includes(name);
	const metrics = [...AREAS, ...OF_ROW, ...LOSSES].map(name =>
		option(name, METRICS[name] + (isArea(name) ? "" : " at the threshold")),
	);
	const what = make("select", {ariaLabel: "Metric"}, ...metrics);
	const kind = make("select", {ariaLabel: "Kind of bound"});
	const field = make("input", {type: "number", step: "any", value: bound, ariaLabel: "Bound"});
	const confidence = make("input", {type: "checkbox", checked: isSure});
	const remove = makeText("button", "Remove");
	const label = make("label", {}, confidence, " with 95 % confidence");
	const made = make("div", {className: "rule"}, what, kind, field, label, remove);
	const offerKinds = () => {
		const least = option("min", "at least");
		const most = option("max", "at most");
		const isHighBetter = !LESS_IS_BETTER.includes(what.value);
		kind.replaceChildren(...(isHighBetter ? [least, option("max_drop", "drop at most"), most] : [most, option("max_rise", "rise at most")]));
	};
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
		...(!isArea(what.value) && {at_threshold: row.threshold}),
		[kind.value]: +field.value,
		...(confidence.checked && {confidence: 0.95}),
	};
	byId("rules").append(made);
}

/** Ask for the verdict on the bounds, and show it; the sample has some of its own at first. */
export async function judge() {
	if (data.isSample && !data.hasRules) {
		addRule("roc", 0.8, true);
		addRule("recall", 0.7, true);
	}
	data.hasRules = true;
	const mine = ++judgement;
	const name = model;
	const rules = [...byId("rules").children].map(made => made.rule()).filter(Boolean);
	const hasBaseline = models().length > 1 && byId("baseline").value !== model;
	const baseline = hasBaseline && {baseline_scores: byId("baseline").value, paired: "true"};
	document.querySelectorAll("[value=max_drop], [value=max_rise]").forEach(change => {
		change.disabled = models().length < 2;
	});
	writeCopies(rules, baseline);
	let answer = {checks: []};
	let verdict;
	try {
		if (rules.length) answer = await drawn("/v1/gates", "gate", {scores: name, ...baseline, rules});
		verdict = inWords(name, answer.status);
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

function inWords(name, status) {
	if (!status) return "Add a bound to judge by.";
	const words = {passed: "passes", failed: "fails", undecided: "cannot be judged"};
	return `${SIGNS[status]} ${name} ${words[status]}.`;
}

/** Judge shortly: a threshold or a bound has changed. */
export const rejudge = () => soon("judge", judge);
