import { render } from "preact";
import { hasToken, signIn } from "./api.js";
import { App } from "./app.js";
import { SignIn } from "./sign-in.js";
import "./style/colours.css";
import "./style/base.css";
import "./style/lists.css";
import "./style/one.css";
import "./style/frame.css";

await signIn();
const root = document.getElementById("app");
if (root !== null) render(hasToken() ? <App /> : <SignIn />, root);
