// Asks the server for an area, a verdict and a refusal, and prints a value of each. The client knows the address.
import { checkGate, evaluateCurves } from "./orval_client.js";

const sample = { scores: [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], labels: [1, 0, 1, 1, 0, 0] };

const curves = await evaluateCurves(sample);
const gate = await checkGate({ ...sample, rules: [{ metric: "roc", min: 0.7 }] });
const refused = await evaluateCurves({ ...sample, labels: [1, 0] });
if (curves.status !== 200 || gate.status !== 200 || refused.status !== 422) throw new Error("other statuses");
console.log(curves.data.auc?.roc, gate.data.status, refused.data.errors?.[0].pointer);
