// What the words of the dashboard mean, where they are explained.

/** Words within cards. */
export const HELP = {
  blocks: "The memory of the texts that are computed now is divided into blocks. When all are in use, requests wait.",
  forced: "Tokens that were written without a step of the model, because the shape left no choice, of all tokens of answers. Drafts are tokens that were guessed and then checked.",
  ttft: "From a request to the first token of its answer. Half of the last answers took less.",
  tpot: "The mean time of each token of an answer after its first one. Half of the last answers took less.",
  late: "A mask says which tokens a shape allows. One that comes after the model's step has the engine wait for it.",
  heavy: "Grammars that take so much time or memory that they got a process of their own, and jobs that were ended because they took too much",
  preemptions: "Requests that had to give their blocks to others, and are computed again or copied back later",
};

/** Titles of cards, by their ids. */
export const TITLES = {
  "requests-title": "Running: tokens are computed. Waiting: in the queue. Compiling: the grammar of the shape is made. Paused: the reader takes nothing.",
  "blocks-title": "The memory of the model for the texts that it computes, in blocks of a few tokens each",
  "prefixes-title": "Beginnings of texts that stay in memory, so that requests with the same beginning needn't compute it again",
  "queue-title": "Requests may ask for a class, as interactive or batch, which says who comes first",
  "masks-title": "Before each token, a mask is filled that says which tokens the shape allows",
  "processes-title": "Shapes are compiled and followed in processes of their own, so that a difficult one holds nobody up",
};
