"""Hosted pages as a browser without JavaScript takes them: forms are filled in and sent, nothing else runs."""

import html.parser
import urllib.parse

from client import FORM, encode


class Page(html.parser.HTMLParser):
    """A page's text, links and forms; `fields` and `buttons` are those of its first form."""

    def __init__(self, url, reply):
        super().__init__(convert_charrefs=True)
        self.url = url
        self.status = reply.status
        self.reply = reply
        self.text = ""
        self.links = []
        self.forms = []
        self.scripts = 0
        self._skipping = False
        self.feed(reply.body.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self._skipping = tag in ("style", "script")
        self.scripts += tag == "script" or any(name.startswith("on") for name in named)
        if tag == "a":
            self.links.append(named.get("href"))
        elif tag == "form":
            sent = {"method": named.get("method", "get"), "action": named.get("action", "")}
            self.forms.append({**sent, "fields": {}, "buttons": []})
        elif tag == "input" and self.forms and named.get("name"):
            self.forms[-1]["fields"][named["name"]] = named.get("value", "")
        elif tag == "button" and self.forms:
            self.forms[-1]["buttons"].append((named.get("name"), named.get("value")))

    def handle_endtag(self, tag):
        if tag in ("style", "script"):
            self._skipping = False

    def handle_data(self, data):
        if not self._skipping:
            self.text += data

    @property
    def fields(self):
        return self.forms[0]["fields"]

    @property
    def buttons(self):
        return self.forms[0]["buttons"]


class Browser:
    """Opens pages and sends their forms. A redirect within the service is followed, one to the merchant returned."""

    def __init__(self, sandbox):
        self._sandbox = sandbox

    def open(self, url):
        return self._page(url, self._sandbox.service.send("GET", url))

    def submit(self, page, **values):
        """Sends the first form of a page with values filled in or a button pressed."""
        form = page.forms[0]
        address = urllib.parse.urljoin(page.url, form["action"])
        body = encode({**form["fields"], **values})
        reply = self._sandbox.service.send(form["method"].upper(), address, body, {"Content-Type": FORM})
        return self._page(address, reply)

    def _page(self, url, reply):
        target = location(reply)
        if target and urllib.parse.urljoin(url, target).startswith(self._sandbox.service.base_url + "/"):
            return self.open(urllib.parse.urljoin(url, target))
        if not (reply.header("content-type") or "").startswith("text/html"):
            return reply
        page = Page(url, reply)
        self._sandbox.same(page.scripts, 0, f"{url} needs no JavaScript")
        policy = reply.header("content-security-policy") or ""
        self._sandbox.holds("default-src 'none'" in policy, f"{url}: content-security-policy", policy)
        self._sandbox.same(reply.header("cache-control"), "no-store", f"{url}: cache-control")
        return page


def location(reply):
    """Where a redirect leads, or None."""
    answer = reply.reply if isinstance(reply, Page) else reply
    return answer.header("location") if answer.status == 303 else None
