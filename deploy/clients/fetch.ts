// Asks the server at the address given for an area, a verdict and a refusal, and prints a value of each.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: process.argv[2] });
const sample = { scores: [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], labels: [1, 0, 1, 1, 0, 0] };

const curves = await client.POST("/v1/curves", { body: sample });
const gate = await client.POST("/v1/gates", { body: { ...sample, rules: [{ metric: "roc", min: 0.7 }] } });
const refused = await client.POST("/v1/curves", { body: { ...sample, labels: [1, 0] } });
console.log(curves.data?.auc?.roc, gate.data?.status, refused.error?.errors?.[0].pointer);
