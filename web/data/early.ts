import { remembered, rememberedOrganization } from "./remembered.ts";

type Early = { organizationId: string | null; answers: Map<string, Promise<Response>> };
const shared = globalThis as { signalboxEarly?: Early };

export const headersOf = (organizationId: string | null): Record<string, string> => ({
  Accept: "application/json",
  ...(organizationId !== null && { "X-Organization": organizationId }),
});

/** Asks for what the first page shows, while its script is still on its way. */
export function askEarly() {
  const organizationId = rememberedOrganization();
  const isKnown = localStorage.getItem(remembered.here) !== null;
  const answers = new Map<string, Promise<Response>>();
  const isFirst = ["/", "/monitors"].includes(location.pathname);
  for (const name of [
    "session",
    ...(isKnown ? ["overview", "problems"] : []),
    ...(isKnown && isFirst ? ["attention", "alert-channel-uses", "api/v1/alert-channels"] : []),
  ]) {
    const url = `/dashboard/${name}`;
    const answer = fetch(url, { headers: headersOf(organizationId) });
    // Whoever takes it handles the failure; until then it is no unhandled rejection.
    answer.catch(() => {});
    answers.set(url, answer);
  }
  shared.signalboxEarly = { organizationId, answers };
}

/** The answer that was asked for early, to whoever comes first. */
export function takeEarly(url: string, organizationId: string | null) {
  const early = shared.signalboxEarly;
  if (early?.organizationId !== organizationId) return undefined;
  const answer = early.answers.get(url);
  early.answers.delete(url);
  return answer;
}
