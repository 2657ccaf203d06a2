/** One line of an examination. */
export type Finding = {
  /** `skipped`: it could not be examined, which is no fault. `unusable`: `serve` would not start. */
  verdict: "ok" | "skipped" | "warning" | "problem" | "unusable";
  subject: string;
  message: string;
  /** The next step, as a command or a setting; null where there is none to take. */
  advice: string | null;
};

export const fine = (subject: string, message: string): Finding => ({
  verdict: "ok",
  subject,
  message,
  advice: null,
});

const finding =
  (verdict: Finding["verdict"]) =>
  (subject: string, message: string, advice: string): Finding => ({
    verdict,
    subject,
    message,
    advice,
  });

export const warning = finding("warning");
export const problem = finding("problem");
export const unusable = finding("unusable");

export const skipped = (
  subject: string,
  message: string,
  advice: string | null = null,
): Finding => ({ verdict: "skipped", subject, message, advice });
