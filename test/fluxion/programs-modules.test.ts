import { runBothWays } from "./corpus.js";

runBothWays((name) => !name.endsWith(".cjs"));
