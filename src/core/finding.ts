/** One result of an examination by `doctor`. */
export type Finding = {
  /** `skipped`: could not be examined, which is not a fault. `unusable`: `serve` would fail to start. */
  verdict: "ok" | "skipped" | "warning" | "problem" | "unusable";
  subject: string;
  message: string;
  /** The next step, as a command or a setting; null if there is none. */
  advice: string | null;
};

export const createOkFinding = (subject: string, message: string): Finding => ({
  verdict: "ok",
  subject,
  message,
  advice: null,
});

const createFindingBuilder =
  (verdict: Finding["verdict"]) =>
  (subject: string, message: string, advice: string): Finding => ({
    verdict,
    subject,
    message,
    advice,
  });

export const createWarningFinding = createFindingBuilder("warning");
export const createProblemFinding = createFindingBuilder("problem");
export const createUnusableFinding = createFindingBuilder("unusable");

export const createSkippedFinding = (
  subject: string,
  message: string,
  advice: string | null = null,
): Finding => ({ verdict: "skipped", subject, message, advice });
