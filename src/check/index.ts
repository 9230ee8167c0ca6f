/** Whether annotations are true: start at `check`. */
export { type Checked, check } from "./check.js";
export {
  type Block,
  type Chance,
  type CheckedComponent,
  checkedComponent,
  type Instance,
  type Sent,
} from "./component.js";
export { queryComponent } from "./query.js";
export { showChecked } from "./show.js";
