/** Parts, groups and streams as the paper has them: scope, stream or share. For people; what moves does not depend on it. */

export { assemble } from "./assemble.js";
export { nameOf, namesOf } from "./names.js";
export { routesOf } from "./routes.js";
