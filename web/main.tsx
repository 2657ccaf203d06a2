import "./first.ts";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { overviewQuery } from "./data/overview.ts";
import { queryClient } from "./data/query.ts";
import { wasSignedIn, sessionQuery } from "./data/session.ts";

// Asked for side by side, before anything is drawn: the page waits for whichever is slower.
void queryClient.prefetchQuery(sessionQuery);
if (wasSignedIn()) void queryClient.prefetchQuery(overviewQuery);

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root.");
createRoot(root).render(<App />);
