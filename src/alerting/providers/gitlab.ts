import { joinUrl } from "./formatting.ts";
import { createIssueProvider } from "./issues.ts";

type Project = { server: string; project: string };

const issuesOf = ({ server, project }: Project, rest = "") =>
  joinUrl(server, `/api/v4/projects/${encodeURIComponent(project)}/issues${rest}`);

/** Issues of GitLab, found by a search in their descriptions: https://docs.gitlab.com/api/issues/ */
export const gitlab = createIssueProvider<"gitlab">({
  service: "GitLab",
  headers: ({ token }) => ({ "PRIVATE-TOKEN": token }),
  list: (settings, key, page) =>
    `${issuesOf(settings)}?state=opened&in=description&search=${encodeURIComponent(key)}&per_page=100&page=${page}`,
  fields: { number: "iid", text: "description" },
  open: (settings, title, description) => ({
    url: issuesOf(settings),
    body: { title, description, labels: "signalbox" },
  }),
  comment: (settings, iid, body) => ({ url: issuesOf(settings, `/${iid}/notes`), body: { body } }),
  close: (settings, iid) => ({
    url: issuesOf(settings, `/${iid}`),
    method: "PUT",
    body: { state_event: "close" },
  }),
});
