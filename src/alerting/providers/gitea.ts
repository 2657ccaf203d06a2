import { joinUrl } from "./formatting.ts";
import { createIssueProvider } from "./issues.ts";

type Repository = { server: string; repository: string };

const buildIssuesUrl = ({ server, repository }: Repository, rest = "") =>
  joinUrl(server, `/api/v1/repos/${repository}/issues${rest}`);

/** Issues of Gitea and Forgejo, found by a search: https://docs.gitea.com/api/#tag/issue */
export const gitea = createIssueProvider<"gitea">({
  service: "Gitea",
  headers: ({ token }) => ({ Authorization: `token ${token}` }),
  list: (settings, key, page) =>
    `${buildIssuesUrl(settings)}?state=open&type=issues&q=${encodeURIComponent(key)}&limit=50&page=${page}`,
  fields: { number: "number", text: "body" },
  open: (settings, title, body) => ({ url: buildIssuesUrl(settings), body: { title, body } }),
  comment: (settings, number, body) => ({
    url: buildIssuesUrl(settings, `/${number}/comments`),
    body: { body },
  }),
  close: (settings, number) => ({
    url: buildIssuesUrl(settings, `/${number}`),
    method: "PATCH",
    body: { state: "closed" },
  }),
});
