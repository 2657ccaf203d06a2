/** A table of a report, sorted by any of its columns. On narrow screens each row is a card with all columns. */
import { type ReactNode, useState } from "react";
import { ShowAllRows, useFirstRows } from "../../components/first-rows.tsx";
import { Panel } from "../../components/page.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { t } from "../../language/text.ts";
import { sortRows, type Sorting } from "./sorting.ts";

export type Column<T> = {
  head: string;
  /** Value to sort by; null sorts last. */
  value: (row: T) => string | number | null;
  cell: (row: T) => ReactNode;
  className?: string;
  /** Whether cards omit the value if it is zero or unknown. */
  isOmittedIfNone?: boolean;
};

export function Table<T>({
  title,
  rows,
  idOf,
  name,
  columns,
}: {
  title: string;
  rows: readonly T[];
  idOf: (row: T) => string;
  /** The first column, which names the row. */
  name: Column<T>;
  columns: readonly Column<T>[];
}) {
  const [sorting, setSorting] = useState<Sorting>(null);
  const all = [name, ...columns];
  const by = all.find(({ head }) => head === sorting?.head);
  const sorted = by === undefined ? rows : sortRows(rows, by.value, sorting?.isDescending === true);
  const { shown, showAll } = useFirstRows(sorted);
  return (
    <Panel title={title} isFlush className="report-table">
      <div className="report-scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr data-head={t("Sort by")}>
              {all.map(({ head, className }) => (
                <Head
                  key={head}
                  head={head}
                  className={className}
                  sorting={sorting}
                  onSort={setSorting}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={idOf(row)} data-item>
                <th scope="row">{name.cell(row)}</th>
                {columns.map(({ head, value, cell, className, isOmittedIfNone = false }) => (
                  <td
                    key={head}
                    data-head={head}
                    className={className}
                    data-none={(isOmittedIfNone && !value(row)) || undefined}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ShowAllRows shown={shown} rows={sorted} onShow={showAll} />
    </Panel>
  );
}

/** A column's header. The first click sorts in the useful direction, the second reverses, the third restores. */
function Head({
  head,
  className,
  sorting,
  onSort,
}: {
  head: string;
  className: string | undefined;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}) {
  const isSorted = sorting?.head === head;
  const next = !isSorted
    ? { head, isDescending: true }
    : sorting.isDescending
      ? { head, isDescending: false }
      : null;
  return (
    <th
      scope="col"
      className={className}
      {...(isSorted && { "aria-sort": sorting.isDescending ? "descending" : "ascending" })}
    >
      <button type="button" className="report-sort" onClick={() => onSort(next)}>
        {head}
        {isSorted && (
          <span className={sorting.isDescending ? "report-arrow" : "report-arrow report-up"}>
            <Icon name="right" size={12} />
          </span>
        )}
      </button>
    </th>
  );
}
