import "./first.ts";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { prefetchFirstScreen } from "./data/first-screen.ts";
import { queryClient } from "./data/query.ts";
import { sessionQuery } from "./data/session.ts";
import { wasSignedIn } from "./data/stored-organization.ts";

void queryClient.prefetchQuery(sessionQuery);
if (wasSignedIn()) prefetchFirstScreen();

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root.");
createRoot(root).render(<App />);
