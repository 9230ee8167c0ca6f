/**
 * The streaming service over HTTP: definitions, pushes as NDJSON, results as pages and as Server-Sent Events, views,
 * and WebSockets for both directions.
 */
export { answer } from "./answer.js";
export { StreamsHttp } from "./http.js";
