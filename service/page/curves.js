/**
 * The evaluation of one model: its pictures, and the threshold that moves along its curves.
 *
 * The service computes curves, areas and intervals; this only divides counts. Knows the first two sections of the
 * results; nothing of other models or of bounds.
 */
import {byId, cells, digits, ends, fill, grouped, tableRow, withInfinity, write} from "./elements.js";
import {ask, soon} from "./requests.js";
import {brief, models, table} from "./data.js";

const LEFT = 50; // pixels, where pictures have their planes
const TOP = 36;
const SIDE = Math.min(360, innerWidth - 110);

/** {metric: its name on the page} */
export const METRICS = {
	roc: "ROC area",
	pr: "PR area",
	average_precision: "average precision",
	recall: "recall",
	precision: "precision",
	fpr: "false positive rate",
	specificity: "specificity",
	npv: "NPV",
	accuracy: "accuracy",
	f1: "F1",
	mcc: "MCC",
	share: "share called positive",
	brier: "Brier score",
	log_loss: "log loss",
};

/** The decisions to choose a threshold by, and each in words. */
export const DECISIONS = [
	[{best: "f1"}, "highest F1"],
	[{best: "mcc"}, "highest MCC"],
	[{best: "youden"}, "highest recall + specificity"],
	...[0.8, 0.9, 0.95].flatMap(at => [
		[{best: "precision", min_recall: at}, `recall ≥ ${at}`],
		[{best: "recall", min_precision: at}, `precision ≥ ${at}`],
	]),
	...[0.01, 0.05, 0.1].flatMap(at => [
		[{best: "recall", max_fpr: at}, `${METRICS.fpr} ≤ ${at}`],
		[{at_share: at}, `top ${100 * at} % of rows`],
	]),
];

const policy = window.trustedTypes?.createPolicy("rocpr-picture", {createHTML: text => text});

/** The model that is shown, and the row at its threshold: its counts. */
export let model;
export let row;

let answers; // {model: its answer}

/** The answer that is shown. */
export const shown = () => answers?.[model];

/** Forget all answers, and show a model: the same as before if it is still among the chosen. */
export function startOver(chosen) {
	answers = Object.create(null); // a column may be called constructor
	if (!chosen.includes(model)) model = chosen.at(-1);
}

export function chooseModel(name) {
	model = name;
}

/** Ask for something about the data, with pictures. */
export function drawn(path, charts, query) {
	const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
	return table(path, {...query, charts, side: SIDE, theme});
}

/** Put the pictures of an answer where they belong: each into the element with its name after the prefix. */
export function putPictures(prefix, {charts}) {
	for (const name in charts) {
		const svg = withInfinity(charts[name]);
		const picture = new DOMParser().parseFromString(policy?.createHTML(svg) ?? svg, "image/svg+xml").documentElement;
		for (const text of picture.querySelectorAll("text")) {
			// A name that the picture cuts is cut as on the page.
			text.textContent = text.textContent.replace(
				/^(\d+)\xa0\xa0.*…/,
				(_, number) => `${number}\xa0\xa0${brief(models()[number - 1])}`,
			);
		}
		fill(prefix + name, picture);
	}
}

/** Show the model: its pictures and warnings, and the threshold of the highest F1. */
export async function show() {
	const options = {scores: model, include: "auc,points", keep: "drawn", intervals: {}};
	const answer = answers[model] ??= await drawn("/v1/curves", "roc,pr", options);
	const {points, positives, negatives} = answer;
	const warnings = answer.warnings.filter(({code}) => code !== "infinite_scores");
	byId("results").hidden = false;
	write("totals", `${model}: ${grouped(positives)} positives, ${grouped(negatives)} negatives`);
	putPictures("", answer);
	fill("warnings", ...cells("li", warnings.map(({detail}) => detail)));
	byId("tradeoffs").open = false;
	answer.rows = [...points.threshold.keys()].filter(place => points.threshold[place] != null);
	byId("slider").max = answer.rows.length - 1;
	// The highest F1 is on the hull, so among the points.
	move(nearest(at => -points.tp[at] / (positives + points.tp[at] + points.fp[at])));
}

/** The place on the slider with the least distance, a function of the number of a point. */
function nearest(distance) {
	const {rows} = shown();
	return rows.reduce((best, at, place) => distance(at) < distance(rows[best]) ? place : best, 0);
}

/** Move to a place on the slider, and to the exact row near it if one is given. Returns true. */
export function move(place, exact) {
	const {points, rows, positives, negatives} = shown();
	const at = rows[place];
	row = exact ?? {threshold: points.threshold[at], tp: points.tp[at], fp: points.fp[at]};
	const {threshold, tp, fp} = row;
	byId("slider").value = place;
	byId("slider").ariaValueText = withInfinity(threshold);
	writeThreshold();
	write("jump-problem", "");
	write("jump-note", "");
	if (!exact) byId("jump").value = "";
	const [fn, tn] = [positives - tp, negatives - fp];
	for (const [name, count] of Object.entries({tp, fn, fp, tn})) write(name, grouped(count));
	const among = (part, whole) => whole ? part / whole : null;
	const values = {
		recall: tp / positives,
		precision: among(tp, tp + fp),
		fpr: fp / negatives,
		specificity: tn / negatives,
		npv: among(tn, tn + fn),
		accuracy: (tp + tn) / (positives + negatives),
		f1: 2 * tp / (positives + tp + fp),
		mcc: among(tp * tn - fp * fn, Math.sqrt((tp + fp) * (tn + fn)) * Math.sqrt(positives * negatives)),
		share: (tp + fp) / (positives + negatives),
	};
	mark("roc", values.fpr, values.recall);
	mark("pr", values.recall, values.precision ?? 1);
	writeRates(values, {});
	askForIntervals(values);
	return true;
}

/** Move to a row of points or decisions, which may lie between two places. Returns true. */
function moveTo({threshold, tp, fp}, at) {
	const exact = {threshold: threshold[at], tp: tp[at], fp: fp[at]};
	return move(nearest(each => Math.abs(shown().points.threshold[each] - exact.threshold)), exact);
}

/** A field for numbers cannot hold an infinite one, but its placeholder can. */
function writeThreshold() {
	const text = withInfinity(row.threshold);
	byId("threshold").placeholder = text;
	byId("threshold").value = text.endsWith("inf") ? "" : text;
}

/** Put the dot of the threshold into a picture. */
function mark(plane, x, y) {
	const picture = byId(plane).firstElementChild;
	const made = () => picture.appendChild(document.createElementNS(picture.namespaceURI, "circle"));
	const dot = picture.querySelector(".mark") || made();
	const attributes = {class: "mark", r: 6, cx: LEFT + x * SIDE, cy: TOP + (1 - y) * SIDE};
	for (const [name, value] of Object.entries(attributes)) dot.setAttribute(name, value);
}

function writeRates(values, intervals) {
	const written = Object.keys(values).map(name => tableRow(METRICS[name], digits(values[name]), ends(intervals[name])));
	byId("rates").tBodies[0].replaceChildren(...written);
}

/** Ask a gate for the intervals of metrics, by the counts; only weights and clusters need all rows. */
function askForIntervals(values) {
	soon("intervals", async () => {
		const here = row;
		const {positives, negatives} = shown();
		const {threshold, tp, fp} = row;
		const counts = {threshold: [threshold], tp: [tp], fp: [fp], positives, negatives};
		const rules = Object.keys(values).map(metric => ({metric, at_threshold: threshold, max: 1}));
		const {checks} = await (byId("weights").value || byId("clusters").value
			? table("/v1/gates", {scores: model, intervals: {}, rules})
			: ask("/v1/gates", {}, JSON.stringify({counts, intervals: {}, rules}), "application/json"));
		const intervals = Object.fromEntries(checks.map(({rule, interval}) => [rule.metric, interval]));
		if (row === here) writeRates(values, intervals);
	});
}

/** Move to the threshold that was typed: its counts are asked for, as not every row is drawn. Returns whether. */
export async function moveToTyped() {
	const typed = byId("threshold").value;
	const answer = shown();
	if (typed === "") {
		writeThreshold();
		return false;
	}
	const {points} = await table("/v1/curves", {scores: model, include: "points", thresholds: typed});
	if (answer !== shown() || typed !== byId("threshold").value) return false;
	const at = points.threshold.findIndex(threshold => threshold != null && +threshold === +typed);
	return moveTo(points, at);
}

/** Move to the next higher (1) or lower (-1) threshold of the slider, also from one between two. Returns whether. */
export function step(by) {
	const {points, rows} = shown();
	const beyond = [...rows.keys()].filter(place => (points.threshold[rows[place]] - row.threshold) * by > 0);
	if (!beyond.length) return false;
	const ascends = byId("lower_is_positive").checked;
	return move(beyond.at(ascends === by > 0 ? 0 : -1));
}

/** Move to the threshold of the decision that was chosen. Returns whether there is one. */
export async function jump() {
	const answer = shown();
	const decisions = DECISIONS.map(([decision]) => decision);
	answer.decisions ??= (await table("/v1/curves", {scores: model, decisions})).decisions;
	const at = byId("jump").value;
	if (answer !== shown() || !at) return false;
	if (answer.decisions.threshold[at] == null) {
		write("jump-problem", "No threshold meets this.");
		return false;
	}
	moveTo(answer.decisions, at);
	if (DECISIONS[at][0].max_fpr) {
		const share = digits(100 * (row.tp + row.fp) / (answer.positives + answer.negatives));
		write("jump-note", `That is a share of the negatives. Of all rows, ${share} % are called positive.`);
	}
	return true;
}

/** Move to the point of a plane that is nearest to a click. Returns true. */
export function moveToClick(plane, event) {
	const {points} = shown();
	const picture = byId(plane).firstElementChild;
	const {left, top, width} = picture.getBoundingClientRect();
	const scale = picture.viewBox.baseVal.width / width;
	const x = ((event.clientX - left) * scale - LEFT) / SIDE;
	const y = 1 - ((event.clientY - top) * scale - TOP) / SIDE;
	const [across, up] = plane === "roc" ? [points.fpr, points.tpr] : [points.recall, points.precision];
	return move(nearest(at => Math.hypot(across[at] - x, (up[at] ?? 1) - y)));
}
