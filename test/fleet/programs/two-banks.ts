import Bank from "./bank.js";

/** Two logical nodes with the same root class. */
export default { north: Bank, south: Bank };
