"""`rocpr gate`: reads rules, builds the request, asks this process or a server, and shows the verdict."""
