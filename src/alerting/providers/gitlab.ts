import { joinUrl } from "./formatting.ts";
import { createIssueProvider } from "./issues.ts";

type Project = { server: string; project: string };

const buildIssuesUrl = ({ server, project }: Project, rest = "") =>
  joinUrl(server, `/api/v4/projects/${encodeURIComponent(project)}/issues${rest}`);

/** Issues of GitLab, found by a search in their descriptions: https://docs.gitlab.com/api/issues/ */
export const gitlab = createIssueProvider<"gitlab">({
  service: "GitLab",
  headers: ({ token }) => ({ "PRIVATE-TOKEN": token }),
  list: (settings, key, page) =>
    `${buildIssuesUrl(settings)}?state=opened&in=description&search=${encodeURIComponent(key)}&per_page=100&page=${page}`,
  fields: { number: "iid", text: "description" },
  open: (settings, title, description) => ({
    url: buildIssuesUrl(settings),
    body: { title, description, labels: "signalbox" },
  }),
  comment: (settings, iid, body) => ({
    url: buildIssuesUrl(settings, `/${iid}/notes`),
    body: { body },
  }),
  close: (settings, iid) => ({
    url: buildIssuesUrl(settings, `/${iid}`),
    method: "PUT",
    body: { state_event: "close" },
  }),
});
