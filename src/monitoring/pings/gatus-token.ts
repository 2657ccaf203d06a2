/**
 * Returns the push token of a job whose token other jobs of Gatus have, too. Gatus tells them apart by the key in the
 * path, which it derives from group and name.
 */
export const buildSharedToken = (key: string, token: string): string =>
  `${key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "-")}:${token}`;
