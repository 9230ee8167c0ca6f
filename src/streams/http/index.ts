/**
 * The streaming service over HTTP: definitions, pushes as NDJSON, results as pages and as Server-Sent Events, views.
 */
export { StreamsHttp } from "./http.js";
