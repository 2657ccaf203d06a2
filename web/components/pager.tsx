import { countInWords } from "./display/format.ts";
import { Button } from "@mantine/core";
import type { PageRequest } from "../../src/core/paging.ts";

/** Which page of a list this is, and how long the list is. */
export type Meta = PageRequest & { total: number };

/** `21–40 of 130`, and the ways to the pages beside this one; nothing where one page holds all. */
export function Pager({ meta, onPage }: { meta: Meta; onPage: (page: number) => void }) {
  const { page, per_page, total } = meta;
  if (total <= per_page && page === 1) return null;
  const first = (page - 1) * per_page + 1;
  const last = Math.min(page * per_page, total);
  return (
    <nav className="pager" aria-label="Pages">
      <span className="num">
        {first <= last ? `${first}–${last}` : "None"} of {countInWords(total)}
      </span>
      <Button size="xs" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button size="xs" disabled={last >= total} onClick={() => onPage(page + 1)}>
        Older
      </Button>
    </nav>
  );
}
