import type { Store } from "../database/store.ts";
import type { Answer } from "./answer.ts";

export type AnswerCache = {
  /** The answer kept under this key, or what `keep` needs: a mark of the moment before its rows are read. */
  find(key: string): Answer | Moment;
  /** Keeps an answer unless something was written since. */
  keep(key: string, moment: Moment, answer: Answer): void;
};

type Moment = { revision: string | null };

const maxAnswers = 1_000;
const maxLength = 64 * 1024;

/** Answers that hold until anything is written, by whomever: those who poll pay for a look-up. */
export function answerCache(store: Store): AnswerCache {
  const answers = new Map<string, Answer>();
  let known: string | null = null;

  function revision() {
    const current = store.revision();
    if (current === null || current !== known) answers.clear();
    known = current;
    return current;
  }

  return {
    find(key) {
      const current = revision();
      return answers.get(key) ?? { revision: current };
    },
    keep(key, moment, answer) {
      if (moment.revision === null || answer.body.length > maxLength) return;
      if (moment.revision !== revision()) return;
      if (answers.size >= maxAnswers) answers.clear();
      answers.set(key, answer);
    },
  };
}
