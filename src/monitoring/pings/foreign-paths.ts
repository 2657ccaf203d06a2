/** Path to which clients of Gatus report the results of external endpoints. */
export const gatusPath = "/api/v1/endpoints/:key/external";

/** Paths below `/api/v1` in the formats of other programs, with their own authentication. */
export const foreignPaths: readonly string[] = [gatusPath];
