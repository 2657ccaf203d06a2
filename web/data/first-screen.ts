import { channelsQuery, channelUsesQuery } from "./alert-channels.ts";
import { overviewQuery } from "./overview.ts";
import { attentionQuery, problemsQuery } from "./problems.ts";
import { queryClient } from "./query.ts";

/** Asks side by side for what the first screen shows, before anything of it is drawn: all of it is drawn at once. */
export function prefetchFirstScreen() {
  void queryClient.prefetchQuery(overviewQuery);
  void queryClient.prefetchQuery(problemsQuery);
  const shown = new URLSearchParams(location.search).get("back") ?? location.pathname;
  if (!["/", "/monitors", "/sign-in"].includes(shown)) return;
  void queryClient.prefetchQuery(attentionQuery);
  void queryClient.prefetchQuery(channelsQuery);
  void queryClient.prefetchQuery(channelUsesQuery);
}
