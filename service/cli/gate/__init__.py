"""`rocpr gate`: a file of rules, the question made of it, who is asked (this process, or a server), and the verdict."""
