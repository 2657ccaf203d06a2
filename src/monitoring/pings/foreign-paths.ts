/** Path to which clients of Gatus report the results of external endpoints. */
export const gatusPath = "/api/v1/endpoints/:key/external";

/** Versions of the management API of Healthchecks whose checks can be read. */
export const checksVersions = ["v1", "v2", "v3"] as const;

/** Paths below `/api/v1` in the formats of other programs, with their own authentication. */
export const foreignPaths: readonly string[] = [
  gatusPath,
  ...checksVersions.flatMap((version) => [
    `/api/${version}/checks`,
    `/api/${version}/checks/:code`,
  ]),
];
