import type { Store } from "../database/store.ts";
import type { Answer } from "./answer.ts";

export type AnswerCache = {
  find(key: string): Answer | undefined;
  /** To be taken before the rows of an answer are read. */
  revision(): string | null;
  /** Keeps an answer unless something was written since `revision` was taken. */
  keep(key: string, revision: string | null, answer: Answer): void;
};

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
      revision();
      return answers.get(key);
    },
    revision,
    keep(key, readAt, answer) {
      if (readAt === null || readAt !== revision() || answer.body.length > maxLength) return;
      if (answers.size >= maxAnswers) answers.clear();
      answers.set(key, answer);
    },
  };
}
