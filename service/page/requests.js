/**
 * Requests to the service, and what becomes of those that fail.
 *
 * A run is everything that follows from one choice of the user. A new run cancels the one before, whose answers nobody
 * gets to see. Knows HTTP, and where the page has its key, its progress and its general problem; nothing of data or
 * answers.
 */
import {byId, write} from "./elements.js";

const WAIT = 200; // milliseconds without another change, before something is asked for

const timers = {};
const requests = new Set();
let run = 0;

/** A request that the service refused, or that did not get there. */
export class Refused extends Error {
	constructor(message, {errors = [], status} = {}) {
		super(message);
		Object.assign(this, {errors, status});
	}
}

/** Begin a run; the function that it returns says whether it is still the last one. */
export function beginRun() {
	const mine = ++run;
	cancelRequests();
	Object.values(timers).forEach(clearTimeout);
	return () => mine === run;
}

export function cancelRequests() {
	requests.forEach(request => request.abort());
	requests.clear();
}

/** Show that something is under way, without saying how much of it is done. */
export const showWaiting = () => byId("progress").removeAttribute("value");

/** Post a body and return the JSON answer. Throws Refused; never returns if another run has begun. */
export function ask(path, query, body, type) {
	return new Promise((resolve, reject) => {
		const mine = run;
		const request = new XMLHttpRequest();
		const refuse = (message, problem) => reject(new Refused(message, problem));
		requests.add(request);
		request.open("POST", `${path}?${asParameters(query)}`);
		request.setRequestHeader("Content-Type", type);
		if (byId("key").value) request.setRequestHeader("Authorization", `Bearer ${byId("key").value}`);
		request.upload.onprogress = ({loaded, total}) => {
			byId("progress").value = loaded / total;
		};
		request.upload.onload = showWaiting;
		request.responseType = "json";
		request.onload = () => {
			const {status, response} = request;
			if (mine !== run) return;
			if (status === 200) resolve(response);
			else refuse(response?.detail || `The server answered ${status}.`, response || {});
		};
		request.onerror = () => refuse("No connection.");
		request.onabort = () => refuse("Cancelled.");
		request.send(body);
	});
}

/** Options as parameters of a query; those that are not texts are JSON, undefined ones left out. */
function asParameters(query) {
	const given = Object.entries(query).filter(([, value]) => value !== undefined);
	const asText = value => typeof value === "string" ? value : JSON.stringify(value);
	return new URLSearchParams(given.map(([name, value]) => [name, asText(value)]));
}

/** Return a refusal; any other error is a mistake of the page's, and is thrown again. */
export function expected(error) {
	if (error instanceof Refused) return error;
	throw error;
}

/** Do what does not belong to a run; a refusal is shown, and changes nothing else. */
export const aside = work => work().catch(error => write("problem", expected(error).message));

/** Do the same shortly, unless it is called again under this name, or a run begins. */
export function soon(name, work) {
	clearTimeout(timers[name]);
	timers[name] = setTimeout(() => aside(work), WAIT);
}
