import { render } from "preact";
import { hasToken, signIn } from "./api.js";
import { App } from "./app.js";
import { SignIn } from "./sign-in.js";
import "./style.css";

await signIn();
const root = document.getElementById("app");
if (root !== null) render(hasToken() ? <App /> : <SignIn />, root);
