import { joinUrl } from "./formatting.ts";
import { createIssueProvider } from "./issues.ts";

type Repository = { server: string; repository: string };

const buildIssuesUrl = ({ server, repository }: Repository, rest = "") =>
  joinUrl(server, `/repos/${repository}/issues${rest}`);

/**
 * Issues of GitHub, found by their label. “Only users with push access can set labels.”
 * https://docs.github.com/en/rest/issues/issues
 */
export const github = createIssueProvider<"github">({
  service: "GitHub",
  headers: ({ token }) => ({
    Authorization: `Bearer ${token}`,
    Accept: "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
  }),
  list: (settings, _key, page) =>
    `${buildIssuesUrl(settings)}?state=open&labels=signalbox&per_page=100&page=${page}`,
  fields: { number: "number", text: "body" },
  open: (settings, title, body) => ({
    url: buildIssuesUrl(settings),
    body: { title, body, labels: ["signalbox"] },
  }),
  comment: (settings, number, body) => ({
    url: buildIssuesUrl(settings, `/${number}/comments`),
    body: { body },
  }),
  close: (settings, number) => ({
    url: buildIssuesUrl(settings, `/${number}`),
    method: "PATCH",
    body: { state: "closed", state_reason: "completed" },
  }),
});
