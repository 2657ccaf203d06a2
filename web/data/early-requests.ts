import { readOrganization, wasSignedIn } from "./stored-organization.ts";

/** Requests that the frame of every page needs, in addition to the session. */
const frameRequests = ["overview", "problems"] as const;

/** Requests that the Monitors page needs before it shows anything. */
export const monitorsRequests = [
  ...frameRequests,
  "attention",
  "alert-channel-uses",
  "api/v1/alert-channels",
] as const;

export type FirstRequest = (typeof monitorsRequests)[number];

/** The requests that a page needs when it is the first one, as paths under `/dashboard`. */
export const listFirstRequests = (page: string): readonly FirstRequest[] =>
  ["/", "/monitors"].includes(page) ? monitorsRequests : frameRequests;

type EarlyResponses = { organizationId: string | null; responses: Map<string, Promise<Response>> };
const earlyGlobals = globalThis as { signalboxEarly?: EarlyResponses };

export const buildRequestHeaders = (organizationId: string | null): Record<string, string> => ({
  Accept: "application/json",
  ...(organizationId !== null && { "X-Organization": organizationId }),
});

/** Sends the requests of the first page while its script is still loading. */
export function sendEarly() {
  const organizationId = readOrganization();
  const responses = new Map<string, Promise<Response>>();
  for (const name of ["session", ...(wasSignedIn() ? listFirstRequests(location.pathname) : [])]) {
    const url = `/dashboard/${name}`;
    const response = fetch(url, { headers: buildRequestHeaders(organizationId) });
    // The caller of `takeEarlyResponse` handles the error. Until then, it must not count as unhandled.
    response.catch(() => {});
    responses.set(url, response);
  }
  earlyGlobals.signalboxEarly = { organizationId, responses };
}

/** The early response to a request, for its first caller. */
export function takeEarlyResponse(url: string, organizationId: string | null) {
  const early = earlyGlobals.signalboxEarly;
  if (early?.organizationId !== organizationId) return undefined;
  const response = early.responses.get(url);
  early.responses.delete(url);
  return response;
}
