import type { StatusPage } from "../../data/status-pages.ts";
import type { IconName } from "../../components/display/icons.tsx";
import { t } from "../../language/text.ts";

type Visibility = StatusPage["visibility"];

/** Labels of the visibility of a status page, for the list and the editor. */
export const visibilities: Record<Visibility, { label: string; hint: string; icon: IconName }> = {
  public: { label: t("Public"), hint: t("Anyone with the address can see it."), icon: "page" },
  password: {
    label: t("With a password"),
    hint: t("Visitors enter it once in 30 days."),
    icon: "lock",
  },
  "signed-in": {
    label: t("Signed-in people"),
    hint: t("Members of the organization sign in to see it."),
    icon: "people",
  },
  addresses: {
    label: t("Chosen addresses"),
    hint: t("Only clients in these networks can see it."),
    icon: "lock",
  },
  hidden: { label: t("Hidden"), hint: t("No one can see it."), icon: "hidden" },
};

/** Whether signed-in people see more of the page than others. */
export const isForSignedIn = ({
  visibility,
  sections,
}: Pick<StatusPage, "visibility" | "sections">): boolean =>
  visibility === "signed-in" || sections.some(({ audience }) => audience === "signed-in");

export const buildPageUrl = ({ slug }: Pick<StatusPage, "slug">): string =>
  `${location.origin}/status/${slug}`;

/** URL that opens the page for a member, who signs in there first if that shows more. */
export const buildMemberUrl = (page: StatusPage): string =>
  buildPageUrl(page) + (isForSignedIn(page) ? "/sign-in" : "");

/** A URL without its scheme. */
export const omitScheme = (address: string): string => address.replace(/^https?:\/\//, "");
