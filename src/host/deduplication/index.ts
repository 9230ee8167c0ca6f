/**
 * Retry deduplication: a request that comes twice under one id has its effect once and gets the first answer.
 * Answers are kept in memory or in the journal, within byte budgets per caller. Use `Answers`; what is kept of them
 * in a journal is written by the store.
 */

export { type AnswerSeries, numberedRequest } from "./answer-series.js";
export { Answers } from "./answers.js";
export { AnswersInJournal, AnswersInMemory } from "./kept-answers.js";
export { type GatheredAnswers, gather, RelayedAnswers } from "./relayed-answers.js";
export { type StoredAnswer, StoredAnswers } from "./stored-answers.js";
export { weightOf } from "./weight.js";
