import type { Store } from "../database/store.ts";
import type { Answer } from "./answer.ts";

export type AnswerCache = {
  /** The answer kept under this key, or what `keep` needs: a mark of the moment before its rows are read. */
  find(key: string): Answer | Moment;
  /** Keeps an answer unless something was written since. */
  keep(key: string, moment: Moment, answer: Answer): void;
};

type Moment = { revision: string | null };

/** Characters kept in all; more than that begins anew. */
const capacity = 8 * 1024 * 1024;

/** Answers that hold until anything is written, by whomever: those who poll pay for a look-up. */
export function answerCache(store: Store): AnswerCache {
  let answers = new Map<string, Answer>();
  let size = 0;
  let known: string | null = null;

  function clear() {
    answers = new Map();
    size = 0;
  }

  function revision() {
    const current = store.revision();
    if (current !== known && size > 0) clear();
    known = current;
    return current;
  }

  return {
    find(key) {
      const current = revision();
      return answers.get(key) ?? { revision: current };
    },
    keep(key, moment, answer) {
      if (moment.revision === null || moment.revision !== revision()) return;
      size += key.length + answer.body.length;
      if (size > capacity) clear();
      else answers.set(key, answer);
    },
  };
}
