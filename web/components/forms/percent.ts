/** Converts a share to a percentage, without the digits of binary rounding. */
export const toPercent = (share: number) => Number((share * 100).toFixed(7));
/**
 * Converts a percentage to a share. Text that is not a number becomes 0, which the server rejects.
 */
export const parsePercent = (percent: string) =>
  Number(((Number(percent.replace(",", ".").replace(/\s*%$/, "")) || 0) / 100).toFixed(9));
