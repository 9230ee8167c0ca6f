/**
 * Topics: contexts that events publish to and that clients follow (docs/server.md). A topic is written like any program's own context,
 * with nothing but the model and the encoding of values.
 */

export { Topic, type TopicPage } from "./topic.js";
